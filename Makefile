# The commands a newcomer needs: `make demo` and `make test`; then what is measured.

CARGO ?= cargo
# What the desktop tests drive; installed only when missing.
DESKTOP_PROGRAMS := Xvfb openbox xterm mousepad featherpad dbus-run-session xauth setxkbmap xkbcomp xprop xclip
DESKTOP_PACKAGES := xvfb openbox xterm mousepad featherpad dbus dbus-x11 xauth x11-xkb-utils x11-utils fonts-dejavu-core xclip

.PHONY: help demo test peers peers-folders waits waits-x11 desktop-packages

help:
	@echo 'make demo   the whole loop on a simulated screen: act, wait, see what changed'
	@echo 'make test   every test; installs a virtual display and real programs when missing'
	@echo 'make peers  whole processes beside odiff, BlazeDiff and pixelmatch; installs them'
	@echo 'make peers-folders  the same for folders of 50 and 1000 pairs, with reg-cli'
	@echo 'make waits  twenty scripted actions, waited for in several ways: time taken, early returns'

demo:
	@echo 'Acting on a small simulated application, waiting, and looking at what changed:'
	@$(CARGO) run --quiet --release -- demo --out seechange-demo
	@echo
	@echo 'The pictures are in seechange-demo/.'

test: desktop-packages
	$(CARGO) test --no-fail-fast -- --include-ignored

peers:
	$(CARGO) bench --bench peers -- --install

# Five to ten minutes.
peers-folders:
	$(CARGO) bench --bench peers -- --install --folders

waits:
	$(CARGO) bench --quiet --bench waits

# Two to five minutes, in real time.
waits-x11: desktop-packages
	$(CARGO) bench --quiet --bench waits -- --x11

desktop-packages:
	@missing=; for program in $(DESKTOP_PROGRAMS); do \
		command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	if [ -n "$$missing" ]; then \
		echo "installing what the desktop tests drive (missing:$$missing)"; \
		$$sudo apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $(DESKTOP_PACKAGES) || exit; \
	fi; \
	command -v chromium >/dev/null || { $$sudo apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends chromium; } || \
		echo 'chromium is not to be had: the tests that drive it are skipped'
