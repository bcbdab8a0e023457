# diadem for Windows under Wine, for the tests that use it. Afterwards "${windows[@]}" is diadem, and $FOLDER the working directory.
# DIADEM_EXE=FILE says which program (else it is built as in development).
# shellcheck shell=bash
if [ -z "${DIADEM_EXE:-}" ]; then
    need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    rustup target add x86_64-pc-windows-gnu 2> /dev/null
    CARGO_PROFILE_DEV_DEBUG=0 cargo build --locked --target x86_64-pc-windows-gnu --bin diadem
    DIADEM_EXE=${CARGO_TARGET_DIR:-target}/x86_64-pc-windows-gnu/debug/diadem.exe
fi
cp "$DIADEM_EXE" "$FOLDER/diadem.exe"
get_wine
cd "$FOLDER" || exit
windows=("$wine" "$FOLDER/diadem.exe")
"$wine" wineboot --init > wineboot.log 2>&1 || true
"${windows[@]}" --version > version
echo "   $(head -1 version) starts under Wine"
