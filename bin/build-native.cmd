@rem No native code is built on Windows; a library made elsewhere by bin/build-natives stays: bin\build-native.cmd DIRECTORY
@if not exist "%~1\META-INF\native\windows-x86_64\iree4j_shim.dll" echo iree4j: no native code is built on Windows; programs with portable kernels need none 1>&2
@exit /b 0
