package io.github.iree4j.hal;

import io.github.iree4j.async.io.SystemIo;
import io.github.iree4j.nativeaccess.NativeLibrary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * The program run by {@link WithoutNativeLibraryTest} in a separate process: copies bytes within a file and prints how.
 */
final class ReadsAFile {
    private ReadsAFile() {}

    public static void main(String[] args) throws InterruptedException {
        if (NativeLibrary.unavailabilityCause() == null) {
            throw new AssertionError("the native library is present");
        }
        try (HalFile file = HalFile.open(Path.of(args[0]), MemoryAccess.READ | MemoryAccess.WRITE)) {
            byte[] bytes = new byte[(int) file.length() - 100];
            file.read(100, MemorySegment.ofArray(bytes));
            file.write(0, MemorySegment.ofArray(bytes).asSlice(0, 50));
            CountDownLatch due = new CountDownLatch(1);
            SystemIo.ofProcess().proactor().after(Duration.ofMillis(1), (_, _) -> due.countDown());
            due.await();
            System.out.println(SystemIo.ofProcess().fileTransfers());
            System.out.println(MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_BYTE, 0));
        }
    }
}
