# Wine with the program for Windows in $FOLDER, for the tests that use it. Afterwards $FOLDER is the working directory, and "${windows[@]}" is diadem.
# DIADEM_EXE=FILE says which program (else it is built as in development).
# shellcheck shell=bash
need wine64 wine64
wine=/usr/lib/wine/wine64
need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
if [ -z "${DIADEM_EXE:-}" ]; then
    rustup target add x86_64-pc-windows-gnu 2> /dev/null
    CARGO_PROFILE_DEV_DEBUG=0 cargo build --locked --target x86_64-pc-windows-gnu --bin diadem
    DIADEM_EXE=${CARGO_TARGET_DIR:-target}/x86_64-pc-windows-gnu/debug/diadem.exe
fi
cp "$DIADEM_EXE" "$FOLDER/diadem.exe"
modules=$(dirname "$(dpkg -L libwine | grep -m 1 '/ntdll\.dll$')")
[ -e "$modules/bcryptprimitives.dll" ] \
    || x86_64-w64-mingw32-gcc -shared -O1 -o "$FOLDER/bcryptprimitives.dll" deploy/windows/bcryptprimitives.c -ladvapi32
export HOME=$FOLDER WINEPREFIX=$FOLDER/prefix WINEDEBUG=-all
deploy=$PWD/deploy
cd "$FOLDER"
windows=("$wine" "$FOLDER/diadem.exe")
"$wine" wineboot --init > wineboot.log 2>&1 || true
"${windows[@]}" --version > version
echo "   $(head -1 version) starts under Wine"
