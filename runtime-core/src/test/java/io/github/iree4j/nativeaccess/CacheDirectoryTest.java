package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no POSIX permissions and Unix attributes")
class CacheDirectoryTest {

    @TempDir
    Path directory;

    @BeforeEach
    void resolveLinks() throws IOException {
        directory = directory.toRealPath();
    }

    private static String rights(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private static Path create(Path directory) throws IOException {
        return CacheDirectory.createTemporary(directory, "test-", "some.property");
    }

    private static void refused(Path directory, String why) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> create(directory))
                .withMessageContaining(why)
                .withMessageContaining("set some.property to one that is this user's alone")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
    }

    /** Makes something belong to another user, as only the superuser can. */
    private static void giveAway(Path path) throws IOException {
        try {
            Files.setAttribute(path, "unix:uid", 65534, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            assumeTrue(false, "needs the superuser, to give files away: " + e);
        }
    }

    @Test
    void eachSystemHasItsFolderForCaches() {
        Path home = Path.of("/u");
        assertThat(CacheDirectory.caches("linux-x86_64", name -> null, home)).isEqualTo(Path.of("/u/.cache"));
        assertThat(CacheDirectory.caches("osx-aarch_64", name -> null, home)).isEqualTo(Path.of("/u/Library/Caches"));
        Map<String, String> variables = Map.of("XDG_CACHE_HOME", "/caches", "LOCALAPPDATA", "/local");
        assertThat(CacheDirectory.caches("linux-x86_64-musl", variables::get, home))
                .isEqualTo(Path.of("/caches"));
        assertThat(CacheDirectory.caches("osx-x86_64", variables::get, home)).isEqualTo(Path.of("/caches"));
        assertThat(CacheDirectory.caches("windows-x86_64", variables::get, home))
                .isEqualTo(Path.of("/local"));
        assertThat(CacheDirectory.caches("osx-x86_64", name -> "relative", home))
                .isEqualTo(Path.of("/u/Library/Caches"));
    }

    /** As in containers: the JVM calls them all "?". */
    @Test
    void usersWhomTheSystemDoesNotKnowHaveFoldersOfTheirOwn() throws IOException {
        String before = System.getProperty("user.name");
        System.setProperty("user.name", "?");
        try {
            Object number = Files.getAttribute(Files.createFile(directory.resolve("file")), "unix:uid");
            assertThat(CacheDirectory.candidates(directory.toString()))
                    .containsExactly(directory, directory.resolve("iree4j-" + number));
        } finally {
            System.setProperty("user.name", before);
        }
    }

    @Test
    void directoriesAndFilesArePrivate() throws IOException {
        Path file = create(directory.resolve("a/b"));
        assertThat(rights(file)).isEqualTo("rw-------");
        assertThat(rights(file.getParent())).isEqualTo("rwx------");
    }

    @Test
    void linkIsNotFollowed() throws IOException {
        Path target = Files.createDirectory(directory.resolve("target"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), target);
        refused(link, "link' is a symbolic link");
        refused(Files.createSymbolicLink(directory.resolve("broken"), directory.resolve("none")), "is a symbolic link");
        assertThat(target).isEmptyDirectory();
    }

    @Test
    void linksOfThisUserOnTheWayAreFollowed() throws IOException {
        Path target = Files.createDirectory(directory.resolve("target"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), target);
        assertThat(create(link.resolve("cache"))).exists();
        assertThat(target.resolve("cache")).isNotEmptyDirectory();
    }

    @Test
    void linkOfAnotherUserOnTheWayIsRefused() throws IOException {
        Path target = Files.createDirectory(directory.resolve("target"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), target);
        giveAway(link);
        refused(link.resolve("cache"), "is reached by a link of another user, '" + link);
    }

    @Test
    void directoryInADirectoryOfAnotherUserIsRefused() throws IOException {
        Path other = Files.createDirectory(directory.resolve("other"));
        Path cache = Files.createDirectories(other.resolve("between/cache"));
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwx------"));
        giveAway(other);
        refused(cache, "is in a directory of another user, '" + other);
        assertThat(cache).as("created for the question").isEmptyDirectory();
    }

    @Test
    void directoryWritableByOthersIsRefused() throws IOException {
        Path cache = Files.createDirectory(directory.resolve("cache"));
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxrwxrwx"));
        refused(cache, "can be written by others (rwxrwxrwx)");
    }
}
