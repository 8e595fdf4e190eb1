package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no POSIX permissions and Unix attributes")
class NativeLibraryTest {
    /** Prints whether native code is available, or why not; runs in a separate JVM. */
    public static final class Probe {
        private Probe() {}

        public static void main(String[] args) {
            IreeException cause = NativeLibrary.unavailabilityCause();
            System.out.println(cause == null ? "available" : cause.code() + ": " + cause.getMessage());
            if (cause != null && cause.getCause() != null) {
                System.out.println("cause " + cause.getCause().getClass().getSimpleName());
            }
        }
    }

    /** Names the directory for copies in the program. */
    static final class Copies {
        private Copies() {}

        public static void main(String[] args) {
            NativeLibrary.copyTo("/never/used");
            NativeLibrary.copyTo(args[0]);
            Probe.main(args);
            NativeLibrary.copyTo(args[0]);
            try {
                NativeLibrary.copyTo("/other");
            } catch (IreeException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    /** Uses every native method; runs with {@code -Xcheck:jni}, and reports on standard output. */
    static final class Exercise {
        private Exercise() {}

        public static void main(String[] args) {
            NativeLibrary.ensureAvailable();
            ShimTest names = new ShimTest();
            for (int i = 0; i < Shim.methodCount(); i++) {
                int index = i;
                Shim.text((out, capacity) -> Shim.methodName(index, out, capacity));
                Shim.text((out, capacity) -> Shim.methodSignature(index, out, capacity));
            }
            names.statusCodesHaveTheSameNumbersAndNames();
            CpuFeatures.has("avx2");
            CpuFeatures.fields();
            CpuLibraryTest cpu = new CpuLibraryTest();
            cpu.addsFourFloats();
            cpu.wrongArgumentsAreRefusedBeforeTheKernelRuns();
            cpu.unrunnableLibrariesReportWhy();
            System.out.println("done");
        }
    }

    @Tag("nightly")
    @Test
    void jniIsUsedCorrectly() throws Exception {
        List<String> command = probeCommand(Exercise.class, "-Xcheck:jni", "--enable-native-access=ALL-UNNAMED");
        // The JVM may also report, at any moment, signal handlers of this library: kernels may fail.
        assertThat(output(command)).contains("done\n").doesNotContain("WARNING").doesNotContain("FATAL");
    }

    private static String probe(String... flags) throws Exception {
        return output(probeCommand(Probe.class, flags));
    }

    private static List<String> probeCommand(Class<?> main, String... flags) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        return command;
    }

    private static String output(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    @Test
    void isAvailableHere() {
        assertThat(NativeLibrary.unavailabilityCause()).isNull();
        NativeLibrary.ensureAvailable();
    }

    @Test
    void deniedNativeAccessNamesTheFlag() throws Exception {
        assertThat(probe("--illegal-native-access=deny"))
                .contains("UNAVAILABLE: native access is denied")
                .contains("--enable-native-access=ALL-UNNAMED")
                .contains("Enable-Native-Access")
                .contains("cause IllegalCallerException");
    }

    @Test
    void nativeAccessRemedyNamesTheModule() {
        assertThat(NativeLibrary.nativeAccessRemedy(String.class.getModule()))
                .contains("--enable-native-access=java.base,");
    }

    @Test
    void aMissingConfiguredFileIsNamedAndNothingElseIsTried() throws Exception {
        assertThat(probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.library-path=/nowhere/lib.so"))
                .contains("UNAVAILABLE: native library '/nowhere/lib.so' does not exist")
                .contains("iree.native.library-path");
    }

    @Test
    void aConfiguredFileOfNoLibraryIsNamed(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve(NativeLibrary.FILE_NAME), "not a library");
        assertThat(probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.library-path=" + directory))
                .contains("UNAVAILABLE: native library '" + file + "' cannot be loaded");
    }

    @Test
    void aConfiguredFileOfAnotherKindIsNamed(@TempDir Path directory) throws Exception {
        Path inside = Files.createDirectory(directory.resolve(NativeLibrary.FILE_NAME));
        assertThat(probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.library-path=" + directory))
                .contains("UNAVAILABLE: native library '" + inside + "' is a directory and must be a regular file");
    }

    /** The system's loader ends the process with a library that was cut off. */
    @Test
    void aConfiguredFileThatDiffersFromItsChecksumIsNotLoaded(@TempDir Path directory) throws Exception {
        byte[] whole = Files.readAllBytes(TestKernels.DIRECTORY.resolve("../..").resolve(NativeLibrary.FILE_NAME));
        Path file = directory.resolve(NativeLibrary.FILE_NAME);
        Path sum = directory.resolve(NativeLibrary.FILE_NAME + ".sha256");
        Files.write(file, whole);
        Files.writeString(
                sum, HexFormat.of().formatHex(CacheFile.sha256().digest(whole)) + "  " + NativeLibrary.FILE_NAME);
        assertThat(probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.library-path=" + directory))
                .startsWith("available");
        Files.write(file, Arrays.copyOf(whole, 20_000));
        assertThat(probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.library-path=" + directory))
                .contains("UNAVAILABLE: native library '" + file + "' differs from its checksum in '" + sum + "'");
    }

    @Test
    void aLibraryThatDoesNotLoadIsNotBlamedOnTheVolume(@TempDir Path parent) throws Exception {
        Path file = Files.write(parent.resolve("lib.so"), new byte[] {1, 2, 3});
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(CacheDirectory.isOnNoexecVolume(file)).isFalse();
        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }

    /** As of a user whom the system does not know: the JVM says "?". */
    @Test
    void withoutAHomeNothingIsWrittenIntoTheWorkingDirectory() {
        String before = System.getProperty("user.home");
        System.setProperty("user.home", "?");
        try {
            assumeTrue(System.getenv("XDG_CACHE_HOME") == null, "the environment names the folder for caches");
            assertThat(CacheDirectory.candidates(null))
                    .singleElement()
                    .satisfies(each -> assertThat(each).startsWithRaw(Path.of(System.getProperty("java.io.tmpdir"))));
        } finally {
            System.setProperty("user.home", before);
        }
    }

    @Test
    void aFolderForCachesThatTheLocaleCannotNameIsPassedOver(@TempDir Path directory) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "env", "LC_ALL=C", "XDG_CACHE_HOME=" + directory.resolve("m\u00fcller"), "TMPDIR=" + directory));
        command.addAll(
                probeCommand(Probe.class, "--enable-native-access=ALL-UNNAMED", "-Djava.io.tmpdir=" + directory));
        assertThat(output(command)).startsWith("available");
    }

    /** Windows' file systems know letters that its code page lacks, and the JVM names libraries in the code page. */
    @Test
    void lettersOutsideTheCodePageAreToldWithTheRemedy() {
        Charset western = Charset.forName("windows-1252");
        Path file = Path.of("/users/\u30e6\u30fc/shim.dll");
        assertThat(NativeLibrary.lettersRemedy(file, western, "some.property"))
                .isEqualTo(
                        "; '" + file
                                + "' has letters that the code page of the system (windows-1252) lacks, set some.property to a directory without them");
        assertThat(NativeLibrary.lettersRemedy(Path.of("/users/m\u00fcller/shim.dll"), western, "some.property"))
                .isEmpty();
    }

    @Test
    void aConfiguredDirectoryIsUsed() throws Exception {
        Path built = TestKernels.DIRECTORY.resolve("../..").toAbsolutePath().normalize();
        assertThat(probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.library-path=" + built))
                .startsWith("available");
    }

    /** In a separate namespace, where any user may mount. */
    @Test
    void noexecVolumesAreRecognised(@TempDir Path directory) throws Exception {
        Process mount = new ProcessBuilder(
                        "unshare", "-Urm", "mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", directory.toString())
                .redirectErrorStream(true)
                .start();
        String complaint = new String(mount.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assumeTrue(mount.waitFor() == 0, "no volume can be mounted noexec here: " + complaint);
        List<String> command = new ArrayList<>(List.of(
                "unshare",
                "-Urm",
                "sh",
                "-c",
                "mount -t tmpfs -o noexec tmpfs \"$0\" && exec \"$@\"",
                directory.toString()));
        command.addAll(probeCommand(
                Probe.class, "--enable-native-access=ALL-UNNAMED", "-Diree.native.extract-dir=" + directory));
        assertThat(output(command))
                .contains("UNAVAILABLE: native library cannot be loaded")
                .contains("mounted noexec, set iree.native.extract-dir");
    }

    @Test
    void platformsAreNamedAsByOsMavenPlugin() {
        assertThat(NativePlatform.name("Linux", "amd64")).isEqualTo("linux-x86_64");
        assertThat(NativePlatform.name("Linux", "aarch64")).isEqualTo("linux-aarch_64");
        assertThat(NativePlatform.name("Mac OS X", "aarch64")).isEqualTo("osx-aarch_64");
        assertThat(NativePlatform.name("Mac OS X", "x86_64")).isEqualTo("osx-x86_64");
        assertThat(NativePlatform.name("Windows 11", "amd64")).isEqualTo("windows-x86_64");
        assertThat(NativePlatform.name("Linux", "riscv64")).isEqualTo("linux-riscv64");
    }

    @Test
    void aPlatformsLibraryHasTheNameExpectedByItsLoader() {
        assertThat(NativePlatform.RELEASED)
                .map(NativePlatform::fileName)
                .containsExactly(
                        "libiree4j_shim.so",
                        "libiree4j_shim.so",
                        "libiree4j_shim.so",
                        "libiree4j_shim.so",
                        "iree4j_shim.dll",
                        "libiree4j_shim.dylib",
                        "libiree4j_shim.dylib");
    }

    @Test
    void theCLibraryIsTheLibraryOfTheMappingsOfTheJvm() {
        assertThat(NativePlatform.isMusl("7f1-7f2 r-xp 00014000 fe:01 530 /lib/ld-musl-x86_64.so.1"))
                .isTrue();
        assertThat(NativePlatform.isMusl("7f1-7f2 r-xp 00014000 fe:01 530 /usr/lib/libc.so"))
                .isTrue();
        assertThat(NativePlatform.isMusl("7f1-7f2 r-xp 00026000 fe:01 530 /usr/lib/x86_64-linux-gnu/libc.so.6"))
                .isFalse();
        assertThat(NativePlatform.isMusl("7f1-7f2 r-xp 00001000 fe:01 530 /lib64/ld-linux-x86-64.so.2"))
                .isFalse();
        assertThat(NativePlatform.isMusl("7f1-7f2 rw-p 00000000 00:00 0 ")).isFalse();
        assertThat(NativePlatform.isMusl("7f1-7f2 rw-p 00000000 00:00 0 [heap]"))
                .isFalse();
        // The JVM of this test runs on either of the two, and has a library for it.
        assertThat(NativePlatform.name()).isIn(NativePlatform.RELEASED);
    }

    /** Names of files are bytes; any may be mapped before the C library. */
    @Test
    void mappingsOfFilesWithOtherLettersAreRead(@TempDir Path directory) throws Exception {
        Path mappings = directory.resolve("maps");
        Files.write(
                mappings,
                "7f1-7f2 r--s 00000000 fe:01 529 /srv/m\u00fcll/a.jar\n7f3-7f4 r-xp 00014000 fe:01 530 /lib/ld-musl-x86_64.so.1\n"
                        .getBytes(StandardCharsets.ISO_8859_1));
        assertThat(NativePlatform.usesMusl(mappings, directory)).isTrue();
    }

    /** Linux hides them from a process with capabilities of its own, for example. */
    @Test
    void withoutMappingsTheLoaderOfTheSystemTellsTheCLibrary(@TempDir Path root) throws Exception {
        Path none = root.resolve("none");
        assertThat(NativePlatform.usesMusl(none, root)).isFalse();
        Files.createFile(Files.createDirectory(root.resolve("lib")).resolve("ld-musl-x86_64.so.1"));
        assertThat(NativePlatform.usesMusl(none, root)).isTrue();
        Files.createFile(Files.createDirectory(root.resolve("lib64")).resolve("ld-linux-x86-64.so.2"));
        assertThat(NativePlatform.usesMusl(none, root)).isFalse();
    }

    @Test
    void aLibraryWithAnotherChecksumIsRefused(@TempDir Path parent) throws Exception {
        Path folder = Files.createDirectories(parent.resolve("META-INF/native/plan9-pdp11"));
        Files.write(folder.resolve(NativeLibrary.FILE_NAME), new byte[] {1, 2, 3});
        Path sum = folder.resolve(NativeLibrary.FILE_NAME + ".sha256");
        Files.writeString(sum, "0".repeat(64) + "  " + NativeLibrary.FILE_NAME + "\n");
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {parent.toUri().toURL()}, before)) {
            Thread.currentThread().setContextClassLoader(loader);
            assertThatThrownBy(() -> NativeExtraction.find("plan9-pdp11"))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("differs from its checksum")
                    .hasMessageContaining("039058c6f2c0cb49");
            Files.writeString(sum, "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81  any name\n");
            assertThat(NativeExtraction.find("plan9-pdp11").extractTo(parent.resolve("copies")))
                    .hasBinaryContent(new byte[] {1, 2, 3});
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void aMissingPlatformNamesResourceAndRemedy() {
        assertThatThrownBy(() -> NativeExtraction.find("plan9-pdp11"))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("'plan9-pdp11'")
                .hasMessageContaining("META-INF/native/plan9-pdp11/libiree4j_shim.so")
                .hasMessageContaining("which has those for ")
                .hasMessageContaining(NativeLibrary.platform())
                .hasMessageContaining("iree.native.library-path");
    }

    @Test
    void extractionWritesOnceAndReusesGoodCopies(@TempDir Path parent) throws Exception {
        Path directory = parent.resolve("a/b");
        NativeExtraction extraction = new NativeExtraction(new byte[] {1, 2, 3});
        Path file = extraction.extractTo(directory);
        assertThat(file).hasBinaryContent(new byte[] {1, 2, 3});
        Object firstFile = Files.readAttributes(file, "unix:ino").get("ino");
        assertThat(extraction.extractTo(directory)).isEqualTo(file);
        assertThat(Files.readAttributes(file, "unix:ino").get("ino")).isEqualTo(firstFile);
        assertThat(new NativeExtraction(new byte[] {4}).extractTo(directory)).isNotEqualTo(file);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)))
                .isEqualTo("rwx------");
    }

    /** As in an image, by another user than the application's. */
    @Test
    void aGoodCopyIsReusedWhereNothingCanBeWritten(@TempDir Path parent) throws Exception {
        NativeExtraction extraction = new NativeExtraction(new byte[] {1, 2, 3});
        Path directory = parent.toRealPath().resolve("d");
        Path file = extraction.extractTo(directory);
        assertThat(CacheDirectory.isSafeToRead(file)).isTrue();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw--w----"));
        assertThat(CacheDirectory.isSafeToRead(file)).as("others can write it").isFalse();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx----w-"));
        assertThat(CacheDirectory.isSafeToRead(file))
                .as("others can replace it")
                .isFalse();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("r-xr-xr-x"));
        Path link = Files.createSymbolicLink(parent.toRealPath().resolve("link"), directory);
        assertThat(CacheDirectory.isSafeToRead(link.resolve(file.getFileName())))
                .isFalse();
        try {
            // A disk that can be written here, such as one of the superuser's, is made one that cannot.
            List<String> command = new ArrayList<>(List.of("unshare", "-Urm", "sh", "-c"));
            command.add("mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"");
            command.add(directory.toString());
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.extract-dir=" + directory);
            command.addAll(probeCommand(
                    Probe.class, "--enable-native-access=ALL-UNNAMED", "-Diree.native.extract-dir=" + directory));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assumeTrue(process.waitFor() == 0, "no volume can be mounted here: " + output);
            assertThat(output).startsWith("available");
        } finally {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        }
    }

    @Test
    void extractionReplacesWrongContentsAndLinks(@TempDir Path parent) throws Exception {
        Path directory = parent.resolve("d");
        NativeExtraction extraction = new NativeExtraction(new byte[] {1, 2, 3});
        Path file = extraction.extractTo(directory);
        Files.write(file, new byte[] {6, 6, 6});
        assertThat(extraction.extractTo(directory)).hasBinaryContent(new byte[] {1, 2, 3});
        Path elsewhere = Files.write(parent.resolve("elsewhere"), new byte[] {1, 2, 3});
        Files.delete(file);
        Files.createSymbolicLink(file, elsewhere);
        extraction.extractTo(directory);
        assertThat(Files.isSymbolicLink(file)).isFalse();
        assertThat(elsewhere).exists();
        try (var left = Files.list(directory)) {
            assertThat(left).containsExactly(file);
        }
    }

    @Test
    void extractionRefusesDirectoriesWritableByOthers(@TempDir Path parent) throws Exception {
        Path directory = Files.createDirectory(parent.resolve("open"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(() -> new NativeExtraction(new byte[] {1}).extractTo(directory))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("can be written by others (rwxrwxrwx)")
                .hasMessageContaining("iree.native.extract-dir");
    }

    @Test
    void theDirectoryForCopiesIsNamedBeforeTheFirstUse(@TempDir Path parent) throws Exception {
        Path directory = parent.resolve("copies");
        List<String> command =
                probeCommand(Copies.class, "--enable-native-access=ALL-UNNAMED", "-Diree.native.extract-dir=/nowhere");
        command.add(directory.toString());
        assertThat(output(command))
                .startsWith("available")
                .contains("was already copied, to '" + directory + "'; name '/other' before its first use");
        try (var inside = Files.list(directory)) {
            assertThat(inside.toList()).singleElement().asString().contains("libiree4j_shim-");
        }
    }

    /** Volumes mounted by a container platform may be writable by all users. */
    @Test
    void aConfiguredDirectoryWritableByOthersGetsAPrivateSubdirectory(@TempDir Path parent) throws Exception {
        Path directory = Files.createDirectory(parent.resolve("open"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(probe("--enable-native-access=ALL-UNNAMED", "-Diree.native.extract-dir=" + directory))
                .contains("where other users can rename it")
                .containsPattern("(?m)^available");
        try (var inside = Files.list(directory)) {
            assertThat(inside.toList())
                    .singleElement()
                    .satisfies(own -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(own)))
                            .isEqualTo("rwx------"));
        }
    }

    @Test
    void aFileInTheWayIsReported(@TempDir Path parent) throws Exception {
        Path file = Files.writeString(parent.resolve("file"), "");
        assertThatThrownBy(() -> new NativeExtraction(new byte[] {1}).extractTo(file))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("cannot write to directory '" + file + "'");
    }

    /** For two applications in a JVM, or a restart by development tools. */
    @Test
    void aSecondClassLoaderGetsASeparateLibrary() throws Exception {
        NativeLibrary.ensureAvailable();
        try (URLClassLoader loader = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
            Class<?> second = loader.loadClass(NativeLibrary.class.getName());
            assertThat(second).isNotEqualTo(NativeLibrary.class);
            assertThat(second.getMethod("unavailabilityCause").invoke(null)).isNull();
            Class<?> features = loader.loadClass(CpuFeatures.class.getName());
            assertThat(features.getMethod("architecture").invoke(null)).isEqualTo(CpuFeatures.architecture());
        }
    }

    /** Loads the library in two class loaders, one after the other. */
    static final class TwoLoaders {
        private TwoLoaders() {}

        public static void main(String[] args) throws Exception {
            Probe.main(args);
            try (URLClassLoader loader = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
                loader.loadClass(Probe.class.getName())
                        .getMethod("main", String[].class)
                        .invoke(null, (Object) args);
            }
            // The copies of a JVM that is killed remain unless they are gone by now.
            Runtime.getRuntime().halt(0);
        }
    }

    @Test
    void aSecondClassLoaderGetsACopyOfTheConfiguredLibrary(@TempDir Path copies) throws Exception {
        Path built = TestKernels.DIRECTORY.resolve("../..").toAbsolutePath().normalize();
        assertThat(output(probeCommand(
                        TwoLoaders.class,
                        "--enable-native-access=ALL-UNNAMED",
                        "-Diree.native.extract-dir=" + copies,
                        "-Diree.native.library-path=" + built)))
                .isEqualTo("available\navailable\n");
        if (OS.LINUX.isCurrentOs()) {
            assertThat(copies).isEmptyDirectory();
        }
    }

    @Test
    void leftoversAreRemovedAfterADay(@TempDir Path directory) throws Exception {
        Instant now = Instant.parse("2026-03-04T05:06:07Z");
        List<String> names = List.of(
                "libiree4j_shim-0123456789abcdef-77-123.so",
                "extract-1f.tmp",
                "libiree4j_shim-0123456789abcdef.so",
                "libiree4j_shim-0123456789abcdef-77-124.so");
        for (String name : names) {
            boolean isNew = name.endsWith("124.so");
            Files.setLastModifiedTime(
                    Files.createFile(directory.resolve(name)), FileTime.from(isNew ? now : now.minusSeconds(1)));
        }
        NativeExtraction.removeLeftovers(directory, now);
        try (var left = Files.list(directory)) {
            assertThat(left.map(each -> each.getFileName().toString()))
                    .containsExactlyInAnyOrder(names.get(2), names.get(3));
        }
        NativeExtraction.removeLeftovers(directory.resolve("none"), now);
    }

    private static URL[] classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(java.io.File.pathSeparator))
                .map(NativeLibraryTest::url)
                .toArray(URL[]::new);
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
