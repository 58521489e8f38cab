# Shared by the scripts: finding a Python, and filling a virtual environment with exactly the pinned packages.
# shellcheck shell=sh

# Prints the first Python that is new enough. TOOLCRIB_PYTHON names one and is then the only candidate.
find_python() {
    for candidate in ${TOOLCRIB_PYTHON:-python3 python3.11 python3.12 python3.13 python3.14 python}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return 0
        fi
    done
    echo "setup: Python 3.11 or newer is needed and none was found (looked for: ${TOOLCRIB_PYTHON:-python3, python3.11 to python3.14, python})." >&2
    echo "setup: on Debian or Ubuntu: apt-get install python3 python3-venv; or set TOOLCRIB_PYTHON to an interpreter." >&2
    return 1
}

# Makes an empty environment at $2 with the Python $1. Debian splits ensurepip off into a package of its own.
make_environment() {
    if ! "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
            echo "setup: installing python3-venv (this Python lacks ensurepip)" >&2
            { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-venv; } >&2
        fi
        if ! "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; then
            echo "setup: $1 cannot make virtual environments: its ensurepip is missing." >&2
            echo "setup: on Debian or Ubuntu run: apt-get install python3-venv" >&2
            return 1
        fi
    fi
    rm -rf "$2"
    "$1" -m venv "$2"
}

# Installs pinned packages into the environment $1: "core" for the product, "test" for its tests as well, "all" for the
# checks too. Every package is checked against its recorded hash and taken as a wheel. One test tool is published as source
# only: it is built here by the pinned setuptools, which came with the first step, so building downloads nothing either.
install_pins() {
    environment=$1
    pip_pinned -r build.txt -r core.txt
    case "$2" in
        core) ;;
        test) pip_pinned --no-build-isolation --use-pep517 --no-binary forbiddenfruit -r test.txt ;;
        all) pip_pinned --no-build-isolation --use-pep517 --no-binary forbiddenfruit -r test.txt -r dev.txt ;;
    esac
}

pip_pinned() (
    cd "$root/requirements"
    "$environment/bin/python" -m pip install -qq --disable-pip-version-check --require-hashes --only-binary :all: "$@"
)
