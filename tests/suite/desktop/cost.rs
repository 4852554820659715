//! What a look costs, printed; nothing here can fail on a slow machine.
