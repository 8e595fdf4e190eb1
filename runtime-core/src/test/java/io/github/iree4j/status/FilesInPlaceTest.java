package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** PLACE-1: the knowledge about touched files; the test runs the readers and comparisons. */
class FilesInPlaceTest {
    @TempDir
    Path directory;

    private final ArrayDeque<Runnable> reading = new ArrayDeque<>();
    private final ArrayDeque<Runnable> comparing = new ArrayDeque<>();
    private final FilesInPlace files = new FilesInPlace(_ -> reading::add, _ -> Runnable::run, comparing::add);
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

    /** Whether the files are known to be unchanged; UNKNOWN until a comparison. */
    private Known areUnchanged() {
        CompletableFuture<IreeException> verdict = files.verdict();
        return verdict == null ? Known.YES : !verdict.isDone() ? Known.UNKNOWN : known(verdict.join());
    }

    private static Known known(IreeException failure) {
        return failure == null ? Known.YES : failure.code() == StatusCode.DATA_LOSS ? Known.NO : Known.UNKNOWN;
    }

    @Test
    void touchedFileIsUnknownUntilComparedOnceForAllAskers() throws IOException {
        read();
        touch();
        assertThat(files.failure()).as("proved").isNull();
        CompletableFuture<IreeException> first = files.verdict();
        CompletableFuture<IreeException> second = files.verdict();
        assertThat(comparing).hasSize(1);
        assertThat(first).isNotDone();
        comparing.remove().run();
        assertThat(first).isCompletedWithValue(null);
        assertThat(second).isCompletedWithValue(null);
        assertThat(files.verdict()).isNull();
    }

    @Test
    void callBegunBeforeAFileWasTouchedGivesNoResultsDespiteEqualContents() throws IOException {
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
        assertThat(areUnchanged()).isEqualTo(Known.UNKNOWN);
        comparing.remove().run();
        assertThat(areUnchanged()).isEqualTo(Known.NO);
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
        assertThat(areUnchanged()).isEqualTo(Known.NO);
        assertThat(comparing).isEmpty();
    }

    @Test
    void restoredContentsAreFound() throws IOException {
        read();
        write("short");
        assertThat(areUnchanged()).isEqualTo(Known.NO);
        write("as it was");
        assertThat(areUnchanged()).isEqualTo(Known.UNKNOWN);
        comparing.remove().run();
        assertThat(areUnchanged()).isEqualTo(Known.YES);
    }

    @Test
    void fileTouchedBeforeItsReadCountsAsChanged() throws IOException {
        touch();
        assertThat(areUnchanged()).isEqualTo(Known.NO);
        assertThat(files.failure()).hasMessageContaining("before the contents had been read");
        reading.remove().run();
        assertThat(files.areRead()).isFalse();
    }

    @Test
    void fileChangingDuringItsComparisonIsComparedAgain() throws IOException {
        read();
        touch();
        CompletableFuture<IreeException> verdict = files.verdict();
        touch();
        comparing.remove().run();
        assertThat(verdict).isNotDone();
        write("as it is.");
        comparing.remove().run();
        assertThat(verdict).isNotDone();
        comparing.remove().run();
        assertThat(known(verdict.join())).isEqualTo(Known.NO);
    }

    @Test
    void fileTouchedDuringEachComparisonKeepsNoCallWaiting() throws IOException {
        read();
        touch();
        CompletableFuture<IreeException> verdict = files.verdict();
        for (int i = 0; i < 3; i++) {
            assertThat(verdict).isNotDone();
            touch();
            comparing.remove().run();
        }
        assertThat(verdict.join().code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(verdict.join().detail(FileFault.class)).isPresent();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows tells no identity of a file")
    void replacedFileIsUnchanged() throws IOException {
        read();
        replace();
        assertThat(areUnchanged()).isEqualTo(Known.YES);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows tells no identity of a file")
    void fileTouchedAndThenReplacedIsNotTakenForUnchanged() throws IOException {
        read();
        write("as it is.");
        assertThat(areUnchanged()).isEqualTo(Known.UNKNOWN);
        replace();
        assertThat(areUnchanged()).isEqualTo(Known.NO);
        assertThat(files.failure()).hasMessageContaining("before the contents could be compared");
    }

    private void replace() throws IOException {
        Path other = Files.writeString(directory.resolve("other"), "as it was");
        Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Files on a file system that answers a look when the test runs the thread. */
    private FilesInPlace elsewhere(ArrayDeque<Runnable> thread, Duration patience) throws IOException {
        FilesInPlace all = new FilesInPlace(_ -> Runnable::run, _ -> thread::add, comparing::add, patience);
        all.add(new FileInPlace("file '" + path + "'", path, FileInPlace.State.of(path), path.getFileSystem(), true));
        all.loaded();
        assertThat(all.areRead()).isTrue();
        return all;
    }

    @Test
    void silentFileSystemLeavesItsFilesUnknown() throws IOException {
        FilesInPlace all = elsewhere(new ArrayDeque<>(), Duration.ofNanos(1));
        IreeException failure = all.verdict().orTimeout(1, TimeUnit.MINUTES).join();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("gives no answer");
        assertThat(failure.getMessage()).doesNotContain(path.toString());
        assertThat(failure.getCause()).hasMessageContaining(path.toString());
        assertThat(failure.detail(FileFault.class)).isPresent();
        assertThat(all.failureSince(all.comparisons())).as("results of a call").hasMessage(failure.getMessage());
        assertThat(all.failure()).hasMessageContaining("check the mount");
    }

    @Test
    void failureBelongsToTheLatestLookAndWaitsForNone() throws IOException {
        ArrayDeque<Runnable> thread = new ArrayDeque<>();
        FilesInPlace all = elsewhere(thread, Duration.ofDays(1));
        write("longer than it was");
        assertThat(all.failure()).isNull();
        thread.remove().run();
        assertThat(all.failure()).hasMessageContaining("has another size");
    }

    @Test
    void aWaiterForAComparisonLearnsOfASilentFileSystem() throws IOException {
        ArrayDeque<Runnable> thread = new ArrayDeque<>();
        FilesInPlace all = elsewhere(thread, Duration.ofSeconds(1));
        touch();
        CompletableFuture<IreeException> verdict = all.verdict();
        thread.remove().run();
        assertThat(verdict).as("while the file is compared").isNotDone();
        assertThat(all.verdict().orTimeout(1, TimeUnit.MINUTES).join()).hasMessageContaining("gives no answer");
        assertThat(verdict.orTimeout(1, TimeUnit.MINUTES).join()).hasMessageContaining("gives no answer");
    }

    @Test
    void filesOfAClosedProgramAreNotRead() {
        files.close();
        reading.remove().run();
        assertThat(files.areRead()).isFalse();
    }

    @Test
    void fileUsedLaterIsReadAsWell() throws IOException {
        read();
        Path other = Files.writeString(directory.resolve("more"), "more");
        files.add(FileInPlace.of("file '" + other + "'", other));
        assertThat(files.areRead()).isFalse();
        read();
    }
}
