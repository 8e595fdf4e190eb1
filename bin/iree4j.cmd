@echo off
rem Command line of iree4j on Windows; --help lists the commands. Builds itself when it is not built yet.
setlocal
set "root=%~dp0.."
set "jar=%root%\tools\target\iree4j-tools.jar"
if exist "%jar%" goto start
call "%~dp0find-jdk.cmd" javac
if errorlevel 1 exit /b 1
echo iree4j: building the command line (once) 1>&2
pushd "%root%"
call mvnw.cmd -q -pl tools -am package -DskipTests -Dlint.checks=-XepDisableAllChecks 1>&2
popd
if exist "%jar%" goto start
echo iree4j: '%jar%' could not be built; run mvnw.cmd package -DskipTests -pl tools -am and see what it says 1>&2
exit /b 1

:start
call "%~dp0find-jdk.cmd"
if errorlevel 1 exit /b 1
"%JAVA_HOME%\bin\java.exe" %IREE4J_JAVA_OPTS% -XX:+UseSerialGC -jar "%jar%" %*
exit /b %errorlevel%
