# The commands a newcomer needs: `make demo`, `make test`, and `make peers` to compare with others.

CARGO ?= cargo
# What the desktop tests drive; installed only when missing.
DESKTOP_PROGRAMS := Xvfb openbox xterm mousepad dbus-run-session xauth setxkbmap xprop
DESKTOP_PACKAGES := xvfb openbox xterm mousepad dbus dbus-x11 xauth x11-xkb-utils x11-utils fonts-dejavu-core

.PHONY: help demo test peers desktop-packages

help:
	@echo 'make demo   the whole loop on a simulated screen: act, wait, see what changed'
	@echo 'make test   every test; installs a virtual display and real programs when missing'
	@echo 'make peers  whole processes beside odiff, BlazeDiff and pixelmatch; installs them'

demo:
	@echo 'Acting on a small simulated application, waiting, and looking at what changed:'
	@$(CARGO) run --quiet --release -- demo --out seechange-demo
	@echo
	@echo 'The pictures are in seechange-demo/.'

test: desktop-packages
	$(CARGO) test --no-fail-fast -- --include-ignored

peers:
	$(CARGO) bench --bench peers -- --install

desktop-packages:
	@missing=; for program in $(DESKTOP_PROGRAMS); do \
		command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	if [ -n "$$missing" ]; then \
		echo "installing what the desktop tests drive (missing:$$missing)"; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $(DESKTOP_PACKAGES); \
	fi
