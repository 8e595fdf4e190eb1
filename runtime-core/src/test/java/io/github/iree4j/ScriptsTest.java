package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Scripts run by users of macOS need neither bash 4 nor GNU tools: macOS has bash 3.2 and BSD's tools. */
class ScriptsTest {
    private static final Path ROOT = Path.of("..");

    /** {@code ./demo}, {@code ./check}, and scripts for users of iree4j, with all called scripts. */
    private static final Set<String> SCRIPTS = Set.of(
            "check",
            "demo",
            "bin/build-native",
            "bin/build-natives",
            "bin/check-sources",
            "bin/cmake-native",
            "bin/find-jdk",
            "bin/find-zig",
            "bin/format",
            "bin/install",
            "bin/iree4j",
            "bin/pack-native",
            "bin/prepare-machine",
            "bin/prepare-model",
            "bin/print-failures",
            "bin/print-skips",
            "bin/require-tools",
            "bin/test-native",
            "sample-app/src/main/iree/compile-kernels",
            "sample-app/src/main/iree/compile-shaders");

    /**
     * A construct missing in macOS.
     *
     * @param pattern of a line
     * @param examples separated by two spaces: found
     * @param others separated by two spaces: not found
     */
    private record Rule(String name, Pattern pattern, String examples, String others) {
        Rule(String name, String pattern, String examples, String others) {
            this(name, Pattern.compile(pattern), examples, others);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static final String BEFORE = "(^|[\\s;|&(`!])";

    private static final List<Rule> RULES = List.of(
            new Rule(
                    "bash 4.0: associative arrays, references",
                    BEFORE + "(declare|local|typeset)\\s+-[a-zA-Z]*[Agn]",
                    "declare -A seen  local -n array=$1",
                    "local -a list  declare -f maven"),
            new Rule(
                    "bash 4.0: mapfile, readarray, coproc",
                    BEFORE + "(mapfile|readarray|coproc)\\s",
                    "mapfile -t lines < <(ls)  coproc cat",
                    "read -r line"),
            new Rule(
                    "bash 4.0: cases of letters",
                    "\\$\\{\\w+(\\[[^]]*])?[,^]",
                    "${name,,}  ${name^}",
                    "${name%,}  ${#list}"),
            new Rule(
                    "bash 4.0: redirections",
                    "&>>|\\|&|\\{\\w+}[<>]",
                    "make &>>log  make |& cat  exec {fd}<file",
                    "make >>log 2>&1  ${x}"),
            new Rule("bash 4.0: fall through", ";;&|;&", "a) ;;&", "a) ;;"),
            new Rule(
                    "bash 4.3: wait -n, test -v",
                    BEFORE + "(wait\\s+-n|\\[\\[?\\s+-[vR]\\s)",
                    "wait -n  [[ -v name ]]",
                    "wait $!  [ -f name ]"),
            new Rule(
                    "bash 4.2: substrings from the end",
                    "\\$\\{\\w+:[^}:]*:\\s*-|\\[-1]",
                    "${name:0:-1}  ${list[-1]}",
                    "${name:0:1}  ${name:-1}"),
            new Rule("bash 4.4: transformations", "\\$\\{\\w+(\\[[@*]])?@", "${name@Q}", "${list[@]}"),
            new Rule(
                    "bash 4: variables, options, times",
                    "EPOCHSECONDS|EPOCHREALTIME|BASHPID|globstar|lastpipe|inherit_errexit|%\\([^)]*\\)T|\\{\\d+\\.\\.\\d+\\.\\.|\\{0\\d+\\.\\.",
                    "$EPOCHSECONDS  shopt -s globstar  {1..9..2}  {01..10}",
                    "$SECONDS  shopt -s nullglob  {1..9}"),
            new Rule(
                    "sed: options",
                    BEFORE + "sed(\\s+-[nE])*\\s+-(?![nEef]+\\s)",
                    "sed -i s/a/b/  sed -n -u p  sed --quiet p",
                    "sed -n p  sed -E -e p"),
            new Rule(
                    "sed, grep: expressions",
                    BEFORE + "(sed|grep)\\s.*\\\\[+?|wsbWSB<>]",
                    "sed 's/a\\+//'  grep 'a\\|b'  sed -n '/\\w/p'",
                    "sed 's/a\\{1,\\}//'  grep -E 'a|b'  grep -v '^\\['"),
            new Rule(
                    "sed: a closing brace after a command",
                    BEFORE + "sed\\s.*\\{[^'}]*[^;\\\\}]}['\"]",
                    "sed -n '/a/{p;q}'",
                    "sed -n '/a/{p;q;}'  sed 's/a\\{2\\}'"),
            new Rule(
                    "grep: options",
                    BEFORE + "grep\\s+(-\\w+\\s+)*-\\w*[PzZT]",
                    "grep -oP a  grep -q -P a",
                    "grep -h -E P  grep -q ."),
            new Rule(
                    "find: primaries, and no folder",
                    BEFORE
                            + "find\\s+-|\\sfind\\s.*-(printf|quit|regextype|executable|readable)|^find\\s.*-(printf|quit)",
                    "find -name a  find . -printf %p  find . -quit",
                    "find . -name a -print  bin/find-jdk -quit"),
            new Rule(
                    "programs of GNU",
                    BEFORE + "(stat|realpath|timeout|setsid|tac|md5sum|numfmt|shuf|flock|ionice|taskset|free)\\s",
                    "stat -c %s a  timeout 5 make",
                    "status=1  test -f stat"),
            new Rule("readlink: options", BEFORE + "readlink\\s+-", "readlink -f a", "readlink a"),
            new Rule(
                    "sort, xargs: options",
                    BEFORE + "(sort\\s+(-\\w+\\s+)*-\\w*[VhRz]|xargs\\s+(-\\w+\\s+)*-\\w*[rda]\\b)",
                    "sort -V  xargs -r rm  sort -u -h",
                    "sort -u  xargs -n 1"),
            new Rule(
                    "mktemp, date: options",
                    BEFORE + "(mktemp\\s+(-\\w+\\s+)*-[pt]|date\\s+.*(-[dIr]|%N))",
                    "mktemp -p a  date -d now  date +%N",
                    "mktemp -d a.XXXXXX  date +%s"),
            new Rule(
                    "head: counts from the end, cp, ls: options",
                    BEFORE + "(head\\s+-(n\\s*-|c\\s*-)|cp\\s+-\\w*[tTlu]|ls\\s+-\\w*[vZ])",
                    "head -n -1  cp -t a b  ls -v",
                    "head -n 1  cp -r a b  ls -l"),
            new Rule(
                    "long options",
                    BEFORE
                            + "(cat|cp|mv|rm|ln|ls|mkdir|head|tail|cut|tr|sort|uniq|wc|du|df|touch|chmod|tee|tar|diff|cmp|env|nice|sleep|date|xargs|find|grep|sed|awk|basename|dirname|mktemp)"
                            + "\\s+(-\\w+\\s+)*--[a-z]",
                    "rm --force a  ls -l --color",
                    "rm -f a  rm -rf -- a"),
            new Rule(
                    "awk: functions",
                    "\\b(gensub|asorti?|systime|strftime|PROCINFO|BEGINFILE|ENDFILE)\\b",
                    "awk '{ print gensub(a, b) }'",
                    "awk '{ gsub(a, b) }'"),
            new Rule("echo: options", BEFORE + "echo\\s+-[en]", "echo -n a", "echo a"));

    /** Of /bin/sh, bash 3.2 on macOS and another shell elsewhere. */
    private static final Rule SH = new Rule(
            "bash in /bin/sh",
            "\\[\\[\\s|[<>]\\(|^\\s*function\\s+\\w+\\s*(\\{|$)|\\w\\+=|\\$\\{\\w+\\[|\\w=\\(|" + BEFORE + "source\\s",
            "[[ a = b ]]  cat < <(ls)  list+=(a)  list=(a)  function f {",
            "[ a = b ]  a=$(ls)");

    static Stream<Rule> rules() {
        return Stream.concat(RULES.stream(), Stream.of(SH));
    }

    @ParameterizedTest
    @MethodSource("rules")
    void ruleFindsItsExamples(Rule rule) {
        assertThat(rule.examples().split(" {2}"))
                .allMatch(line -> rule.pattern().matcher(line).find());
        assertThat(rule.others().split(" {2}"))
                .noneMatch(line -> rule.pattern().matcher(line).find());
    }

    @Test
    void scriptsNeedNeitherBash4NorGnuTools() throws IOException {
        List<String> found = new ArrayList<>();
        for (String script : new TreeSet<>(SCRIPTS)) {
            String text = Files.readString(ROOT.resolve(script));
            boolean bash = text.startsWith("#!/usr/bin/env bash\n");
            assertThat(bash || text.startsWith("#!/bin/sh\n")).as(script).isTrue();
            List<String> lines = text.lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).replaceFirst("(^|\\s)#\\s.*", "").strip();
                if (!line.startsWith("#")) {
                    String at = script + ":" + (i + 1) + ": ";
                    rules().filter(rule -> rule != SH || !bash)
                            .filter(rule -> rule.pattern().matcher(line).find())
                            .forEach(rule -> found.add(at + rule + ": " + line));
                }
            }
            arrays(script, text, found);
            substitutes(script, text, found);
        }
        assertThat(found).isEmpty();
    }

    /**
     * An array empty at first is an error under set -u until bash 4.4, unless the elements are counted or guarded by
     * {@code ${a[@]+...}}.
     */
    private static void arrays(String script, String text, List<String> found) {
        Pattern.compile("\\b(\\w+)=\\(\\)")
                .matcher(text)
                .results()
                .map(result -> result.group(1))
                .distinct()
                .forEach(name -> {
                    if (text.contains("\"${" + name + "[@]}\"")
                            && !text.contains("${" + name + "[@]+")
                            && !text.contains("${#" + name + "[@]}")) {
                        found.add(script + ": \"${" + name + "[@]}\" is an error when empty; ${" + name + "[@]+\"${"
                                + name + "[@]}\"} is not");
                    }
                });
    }

    private static void substitutes(String script, String text, List<String> found) {
        if (text.contains("nproc") && !text.contains("getconf _NPROCESSORS_ONLN")) {
            found.add(script + ": nproc without getconf _NPROCESSORS_ONLN");
        }
        if (text.contains("sha256sum") && !text.contains("shasum -a 256")) {
            found.add(script + ": sha256sum without shasum -a 256");
        }
    }

    /** Calls of scripts by scripts, and by Maven. */
    @Test
    void calledScriptsAreLookedAt() throws IOException {
        Set<String> called = new TreeSet<>();
        for (String script : SCRIPTS) {
            for (String line : Files.readAllLines(ROOT.resolve(script))) {
                if (!line.strip().startsWith("#")) {
                    Pattern.compile("(\\$here/|\\$\\(|nice |! |^\\s*)(bin/[a-z0-9-]+)")
                            .matcher(line)
                            .results()
                            .map(result -> result.group(2))
                            .forEach(called::add);
                }
            }
        }
        for (String module : List.of("", "native-shim/", "sample-app/")) {
            Pattern.compile("basedir}/(?:\\.\\./)?((?:bin|src/main/iree)/[a-z-]+)(?:\\$\\{script\\.suffix})?[<\"]")
                    .matcher(Files.readString(ROOT.resolve(module + "pom.xml")))
                    .results()
                    .map((MatchResult result) -> result.group(1))
                    .forEach(path -> called.add(path.startsWith("bin/") ? path : module + path));
        }
        assertThat(called)
                .contains("bin/cmake-native", "bin/check-sources", "sample-app/src/main/iree/compile-kernels")
                .isSubsetOf(SCRIPTS);
    }

    /** The output of a command that has only these programs on its path, and the exit status. The library is named where it exists. */
    private static String withoutCompiler(Path path, Path library, String... command)
            throws IOException, InterruptedException {
        for (String program : List.of(
                "sh",
                "dirname",
                "basename",
                "uname",
                "sed",
                "env",
                "mkdir",
                "cmp",
                "cp",
                "sha256sum",
                "rm",
                "readlink")) {
            Path link = path.resolve(program);
            if (!Files.exists(link)) {
                Files.createSymbolicLink(
                        link,
                        Stream.of("/bin", "/usr/bin")
                                .map(folder -> Path.of(folder, program))
                                .filter(Files::exists)
                                .findFirst()
                                .orElseThrow());
            }
        }
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(ROOT.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.equals("IREE4J_NATIVE_LIBRARY_PATH"));
        builder.environment().put("PATH", path.toString());
        if (Files.exists(library)) {
            builder.environment().put("IREE4J_NATIVE_LIBRARY_PATH", library.toString());
        }
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return output + "status " + process.waitFor();
    }

    /** Where there is no compiler, a library made elsewhere serves, and the message without one says so. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void libraryMadeElsewhereNeedsNoCompiler(@TempDir Path directory) throws Exception {
        Path path = Files.createDirectory(directory.resolve("path"));
        Path library = directory.resolve("libiree4j_shim.so");
        Path resources = directory.resolve("resources");
        assertThat(withoutCompiler(path, library, "bin/require-tools"))
                .contains("gcc", "cmake", "IREE4J_NATIVE_LIBRARY_PATH")
                .endsWith("status 1");
        assertThat(withoutCompiler(path, library, "bin/require-tools", "build-natives"))
                .as("which brings its own compiler")
                .contains("make")
                .doesNotContain("gcc");
        Files.writeString(library, "library");
        assertThat(withoutCompiler(path, library, "bin/require-tools")).isEqualTo("status 0");
        assertThat(withoutCompiler(path, library, "bin/require-tools", "build-natives"))
                .as("which makes the libraries of a release all the same")
                .contains("cmake");
        Path checksum =
                Files.writeString(directory.resolve("libiree4j_shim.so.sha256"), "0".repeat(64) + "  " + library);
        assertThat(withoutCompiler(path, library, "bin/build-native", resources.toString()))
                .contains("differs from its checksum");
        Files.delete(checksum);
        assertThat(withoutCompiler(path, library, "bin/cmake-native", "release", "test_libraries"))
                .contains("IREE4J_NATIVE_LIBRARY_PATH names the library")
                .endsWith("status 77");
        assertThat(withoutCompiler(path, library, "bin/build-native", resources.toString()))
                .endsWith("status 0");
        try (Stream<Path> packed = Files.walk(resources)) {
            assertThat(packed.filter(Files::isRegularFile)
                            .map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("libiree4j_shim.so", "libiree4j_shim.so.sha256");
        }
    }

    /** Before anything is fetched. */
    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "there is no bash")
    void preparingAModelRefusesWhatItCannotDo(@TempDir Path directory) throws Exception {
        String graph = Files.createFile(directory.resolve("graph.onnx")).toString();
        assertThat(prepareModel(directory, directory.resolve("none.onnx").toString()))
                .contains("there is no file", "none.onnx")
                .endsWith("status 1");
        assertThat(prepareModel(directory, graph, "--shape=batch=1"))
                .contains("there is no option '--shape=batch=1'", "--shapes=LIST")
                .endsWith("status 2");
        assertThat(prepareModel(directory, graph, "--name=My Model"))
                .contains("'My Model' is no name of a module", "--name=NAME")
                .endsWith("status 2");
        for (String name : List.of("-", "a\n  b", "x: {}", "größe", "\"")) {
            assertThat(prepareModel(directory, graph, "--name=" + name))
                    .contains("is no name of a module", "--name=NAME")
                    .endsWith("status 2");
        }
        for (String shapes :
                List.of("x=0", "x=-1", "x=1e9", "x=9999999999", "x", "=1", "x=1,", "x=1::y=1", "x=1 y=1")) {
            assertThat(prepareModel(directory, graph, "--shapes=" + shapes))
                    .contains("--shapes=" + shapes + " is no list of sizes", "batch=1:length=16")
                    .endsWith("status 2");
        }
        // Neither YAML nor locations of Spring have these as they are.
        for (String output : List.of("a\"b", "a\\b", "${a}", "a#b", "a%20b", "a?b", "a;b", "a\nb")) {
            assertThat(prepareModel(directory, graph, "--output=" + directory.resolve(output)))
                    .contains("properties cannot name the folder", "--output=DIRECTORY")
                    .endsWith("status 2");
        }
        assertThat(prepareModel(directory, graph, "minilm"))
                .contains("there are two models", "graph.onnx", "minilm")
                .endsWith("status 2");
        assertThat(prepareModel(directory, graph, "--variants=1x16"))
                .contains("--variants=1x16 is of minilm", "--shapes=LIST")
                .endsWith("status 2");
        assertThat(prepareModel(directory, "minilm", "--shapes=batch=1"))
                .contains("--shapes=batch=1 is of graphs", "FILE.onnx")
                .endsWith("status 2");
        assertThat(directory.resolve("cache")).doesNotExist();
    }

    private static String prepareModel(Path directory, String... arguments) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(Stream.concat(
                                Stream.of(ROOT.resolve("bin/prepare-model").toString()), Stream.of(arguments))
                        .toList())
                .redirectErrorStream(true);
        builder.environment().put("IREE4J_CACHE", directory.resolve("cache").toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return output + "status " + process.waitFor();
    }

    /** Such as after a configuration without a compiler that works: CMake leaves its cache, but no file for make. */
    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "no native code is built there")
    void aBuildThatCouldNotBeConfiguredStartsAnew(@TempDir Path parent) throws Exception {
        Path root = Files.createDirectory(parent.toRealPath().resolve("clone"));
        for (String each : List.of("bin/cmake-native", "bin/find-jdk")) {
            Path copy = root.resolve(each);
            Files.createDirectories(copy.getParent());
            Files.copy(ROOT.resolve(each), copy, StandardCopyOption.COPY_ATTRIBUTES);
        }
        Path programs = Files.createDirectory(root.resolve("programs"));
        Path build = root.resolve("native-shim/build/debug");
        Files.createDirectories(build.getParent());
        for (String each : List.of("cc", "make", "cmake")) {
            Path program = Files.writeString(programs.resolve(each), """
                    #!/bin/sh
                    cd '%s'
                    case $1 in
                        --preset) echo 'CMAKE_HOME_DIRECTORY:INTERNAL=%s' >CMakeCache.txt; [ -f ../mended ] && touch Makefile ;;
                        --build) [ -f Makefile ] && touch built ;;
                    esac
                    """.formatted(build, root.resolve("native-shim")));
            assertThat(program.toFile().setExecutable(true)).isTrue();
        }
        assertThat(cmakeNative(root, programs)).isNotZero();
        assertThat(build.resolve("CMakeCache.txt")).exists();
        Files.createFile(build.resolveSibling("mended"));
        assertThat(cmakeNative(root, programs)).isZero();
        assertThat(build.resolve("built")).exists();
        assertThat(cmakeNative(root, programs)).isZero();
    }

    private static int cmakeNative(Path root, Path programs) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        root.resolve("bin/cmake-native").toString(), "debug")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().merge("PATH", programs.toString(), (path, own) -> own + ":" + path);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        return builder.start().waitFor();
    }

    /** Maven runs no test, and says nothing, for a name without a test: a test may have been renamed. */
    @Test
    void testsNamedByScriptsExist() throws IOException {
        Pattern named = Pattern.compile("\\b(\\w+Tests?)#(\\w+)");
        List<String> found = new ArrayList<>();
        try (Stream<Path> scripts = Files.list(ROOT.resolve("bin"))) {
            for (Path script : scripts.toList()) {
                for (MatchResult match :
                        named.matcher(Files.readString(script)).results().toList()) {
                    found.add(match.group());
                    assertThat(codeOf(match.group(1)))
                            .as("%s of %s", match.group(), script)
                            .contains("void " + match.group(2));
                }
            }
        }
        assertThat(found).isNotEmpty();
    }

    /** The code of the test classes of a name, in all modules. */
    private static String codeOf(String test) throws IOException {
        StringBuilder code = new StringBuilder();
        for (Path folder : Modules.folders("src/test/java")) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file :
                        files.filter(each -> each.endsWith(test + ".java")).toList()) {
                    code.append(Files.readString(file));
                }
            }
        }
        return code.toString();
    }

    /** Each script run by Maven on Windows has a twin for cmd.exe, which ends lines by two characters. */
    @Test
    void scriptsOfWindowsHaveTheLinesOfWindows() throws IOException {
        for (String script : List.of(
                "mvnw.cmd",
                "demo.cmd",
                "bin/build-native.cmd",
                "bin/find-jdk.cmd",
                "bin/iree4j.cmd",
                "sample-app/src/main/iree/compile-kernels.cmd",
                "sample-app/src/main/iree/compile-shaders.cmd")) {
            String text = Files.readString(ROOT.resolve(script));
            assertThat(text.replace("\r\n", "")).as(script).doesNotContain("\n").doesNotContain("\r");
            assertThat(text).as(script).endsWith("\r\n");
            // Variables of the programs that a script starts, too, whose names have no cases on Windows.
            assertThat(text)
                    .as(script)
                    .doesNotContainPattern("(?i)set \"?(home|lang|os|path|shell|temp|tmp|user|username)=");
        }
    }
}
