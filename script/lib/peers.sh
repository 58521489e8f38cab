# Shared by the scripts: programs that measurements compare with and some tests drive, installed beside the tree and
# never into it or into the system.
# shellcheck shell=sh

peers=$root/.toolcrib-dev/bench

# Installs the library of the accelerator, as its pin says.
install_fff() {
    pins=$(cksum <"$root/requirements/npm.pins")
    if [ "$(cat "$peers/fff/pins" 2>/dev/null)" = "$pins" ]; then return 0; fi
    echo "setup: installing the accelerator fff" >&2
    "$root/.venv/bin/python" "$root/script/lib/npm.py" "$root/requirements/npm.pins" "$peers/fff" || return 1
    echo "$pins" >"$peers/fff/pins"
}

# Unpacks Debian's fd without installing it; apt checks its hash. Elsewhere an fd on the path will do.
install_fd() {
    if [ -x "$peers/fd/fd" ]; then return 0; fi
    mkdir -p "$peers/fd"
    for name in fd fdfind; do
        if command -v "$name" >/dev/null 2>&1 && "$name" --version | grep -q '^fd'; then
            ln -sf "$(command -v "$name")" "$peers/fd/fd"
            return 0
        fi
    done
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg >/dev/null 2>&1; then
        echo "setup: fd was not found, and without apt-get it is not fetched; install it (package fd-find) and run this again" >&2
        return 1
    fi
    echo "setup: fetching fd" >&2
    rm -rf "$peers/fd"
    mkdir -p "$peers/fd"
    (cd "$peers/fd" && apt-get download -qq fd-find && dpkg -x fd-find_*.deb .) >&2 || return 1
    ln -sf usr/lib/cargo/bin/fd "$peers/fd/fd"
    [ -x "$peers/fd/fd" ]
}
