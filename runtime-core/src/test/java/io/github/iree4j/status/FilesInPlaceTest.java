package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PLACE-1: what is known of files that were touched; the test runs what reads and compares them. */
class FilesInPlaceTest {
    @TempDir
    Path directory;

    private final ArrayDeque<Runnable> reading = new ArrayDeque<>();
    private final ArrayDeque<Runnable> comparing = new ArrayDeque<>();
    private final FilesInPlace files = new FilesInPlace(reading::add, comparing::add);
    private int seconds;
    private Path path;
    private FileInPlace file;

    @BeforeEach
    void open() throws IOException {
        path = Files.writeString(directory.resolve("weights"), "as it was");
        touch();
        file = FileInPlace.of("file '" + path + "'", path);
        files.add(file);
        assertThat(reading).as("while the program is loaded").isEmpty();
        files.loaded();
    }

    private void read() {
        reading.remove().run();
        assertThat(files.areRead()).isTrue();
    }

    private void touch() throws IOException {
        Files.setLastModifiedTime(path, FileTime.from(Instant.ofEpochSecond(++seconds)));
    }

    private void write(String contents) throws IOException {
        Files.writeString(path, contents);
        touch();
    }

    private CompletableFuture<Void> doubt() {
        CompletableFuture<Void> doubt = files.doubt();
        assertThat(doubt).isNotNull();
        return doubt;
    }

    @Test
    void touchedFileIsUnknownUntilItWasComparedOnceForAllWhoAsk() throws IOException {
        read();
        touch();
        assertThat(files.areUnchanged()).isEqualTo(Known.UNKNOWN);
        assertThat(files.failure()).as("proved").isNull();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(files::requireUnchanged)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
        CompletableFuture<Void> doubt = doubt();
        assertThat(comparing).hasSize(1);
        comparing.remove().run();
        assertThat(doubt).isCompleted();
        assertThat(files.areUnchanged()).isEqualTo(Known.YES);
        assertThat(files.doubt()).isNull();
        files.requireUnchanged();
    }

    @Test
    void callThatBeganBeforeAFileWasTouchedGivesNoResultsThoughItsContentsAreTheSame() throws IOException {
        read();
        long before = files.comparisons();
        assertThat(files.failureSince(before)).isNull();
        touch();
        assertThat(files.failureSince(before)).hasMessageContaining("make the call again");
        comparing.remove().run();
        assertThat(files.failureSince(before))
                .hasMessageContaining("make the call again")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
        assertThat(files.failureSince(files.comparisons())).isNull();
    }

    @Test
    void otherContentsOfTheSameSizeAreFoundAndOnlyTheCauseNamesThePath() throws IOException {
        read();
        write("as it is.");
        doubt();
        comparing.remove().run();
        assertThat(files.areUnchanged()).isEqualTo(Known.NO);
        assertThat(files.failure()).hasMessageContaining(path.toString()).hasMessageContaining("has other contents");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(files::awaitUnchanged)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(path.toString()))
                .satisfies(e -> assertThat(e.getCause()).hasMessageContaining(path.toString()));
    }

    @Test
    void anotherSizeIsAChangeWithoutComparing() throws IOException {
        read();
        write("longer than it was");
        assertThat(files.areUnchanged()).isEqualTo(Known.NO);
        assertThat(files.doubt()).isNull();
    }

    @Test
    void restoredContentsAreFound() throws IOException {
        read();
        write("short");
        assertThat(files.areUnchanged()).isEqualTo(Known.NO);
        write("as it was");
        doubt();
        comparing.remove().run();
        assertThat(files.areUnchanged()).isEqualTo(Known.YES);
    }

    @Test
    void fileThatWasTouchedBeforeItWasReadCountsAsChanged() throws IOException {
        touch();
        assertThat(files.areUnchanged()).isEqualTo(Known.NO);
        assertThat(files.failure()).hasMessageContaining("before its contents had been read");
        reading.remove().run();
        assertThat(files.areRead()).isFalse();
    }

    @Test
    void fileThatChangesWhileItIsComparedIsComparedAgain() throws IOException {
        read();
        touch();
        CompletableFuture<Void> first = doubt();
        touch();
        comparing.remove().run();
        assertThat(first).isCompleted();
        assertThat(files.areUnchanged()).isNotEqualTo(Known.NO);
        write("as it is.");
        doubt();
        comparing.remove().run();
        assertThat(files.areUnchanged()).isEqualTo(Known.NO);
    }

    @Test
    void replacedFileIsUnchanged() throws IOException {
        read();
        replace();
        assertThat(files.areUnchanged()).isEqualTo(Known.YES);
    }

    @Test
    void fileThatWasTouchedAndThenReplacedIsNotTakenForUnchanged() throws IOException {
        read();
        write("as it is.");
        assertThat(files.areUnchanged()).isEqualTo(Known.UNKNOWN);
        replace();
        assertThat(files.areUnchanged()).isEqualTo(Known.NO);
        assertThat(files.failure()).hasMessageContaining("before its contents could be compared");
    }

    private void replace() throws IOException {
        Path other = Files.writeString(directory.resolve("other"), "as it was");
        Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void filesOfAClosedProgramAreNotRead() {
        files.close();
        reading.remove().run();
        assertThat(files.areRead()).isFalse();
    }

    @Test
    void fileThatIsUsedLaterIsReadAsWell() throws IOException {
        read();
        Path other = Files.writeString(directory.resolve("more"), "more");
        files.add(FileInPlace.of("file '" + other + "'", other));
        assertThat(files.areRead()).isFalse();
        read();
    }
}
