# Sourced by demo.sh and test.sh: installs what the build needs on Debian 12 or later, when run as root.
# Everything comes from Debian's own archive. Elsewhere, install the equivalents by hand.
PTXBRIDGE_PACKAGES=(build-essential cmake ninja-build ccache pkg-config
  clang-22 lld-22 llvm-22 llvm-22-dev
  libjansson-dev libpng-dev zlib1g-dev libssl-dev libmpfr-dev libgmp-dev)
PTXBRIDGE_TEST_PACKAGES=(libclang-rt-22-dev libgtest-dev libbenchmark-dev python3)

install_packages() {
  local missing=() p
  command -v dpkg-query >/dev/null || { echo "not a Debian system: install the packages by hand: $*"; return 0; }
  for p in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" != 0 ]; then
    echo "missing packages; run: sudo apt-get install ${missing[*]}" >&2
    return 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1 && return 0
  apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
