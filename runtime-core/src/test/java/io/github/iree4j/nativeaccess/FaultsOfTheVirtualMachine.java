package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A process with faulting kernels while the JVM handles the faults of its own code: implicit null checks, stack
 * overflows, truncated mapped files, divisions by zero. Prints {@code done}. With {@code store} a single storing kernel
 * runs and the outcome is printed.
 */
final class FaultsOfTheVirtualMachine {
    private static final int ROUNDS = 20_000; // enough for both JIT compilers

    private FaultsOfTheVirtualMachine() {}

    private record Cell(int value) {}

    private static int depth;

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        try (FaultyKernels kernels = new FaultyKernels(directory)) {
            if (arguments.length > 1) {
                try {
                    kernels.storeTo(16);
                } catch (IreeException e) {
                    System.out.println(e.getMessage());
                }
                return;
            }
            Random random = new Random(7);
            @Nullable Cell[] cells = new @Nullable Cell[64];
            int caught = 0;
            for (int i = 0; i < ROUNDS; i++) {
                if (i % 20 == 0) {
                    kernels.store(random);
                }
                cells[i % 64] = i % 8 == 0 ? null : new Cell(i % 3);
                caught += exceptions(cells[i % 64]);
            }
            require(caught == ROUNDS / 8 + (ROUNDS - ROUNDS / 8) / 3, "implicit checks: " + caught);
            for (int i = 0; i < 20; i++) {
                kernels.store(random);
                require(overflows(), "a stack that ends");
            }
            kernels.store(random);
            require(losesAFile(directory.resolve("shorter.bin")), "a file in the process of becoming shorter");
            kernels.store(random);
            onManyThreads(kernels);
        }
        System.out.println("done");
    }

    private static void onManyThreads(FaultyKernels kernels) throws InterruptedException {
        AtomicInteger right = new AtomicInteger();
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 200; i++) {
                    if (isStopped(kernels) && exceptions(null) == 1 && (i % 50 != 0 || overflows())) {
                        right.incrementAndGet();
                    }
                }
            });
            threads[t].start();
        }
        while (threads[0].isAlive()) {
            System.gc(); // stops the other threads anywhere
        }
        for (Thread thread : threads) {
            thread.join();
        }
        require(right.get() == 200 * threads.length, "on many threads: " + right);
    }

    private static boolean isStopped(FaultyKernels kernels) {
        try {
            kernels.storeTo(16);
            return false;
        } catch (IreeException e) {
            return e.getMessage().contains("0x10");
        }
    }
    /** Returns 1 for null and for a division by zero. */
    @SuppressWarnings("NullAway") // as intended
    private static int exceptions(@Nullable Cell cell) {
        try {
            return 6 / cell.value() < 0 ? 1 : 0;
        } catch (NullPointerException | ArithmeticException e) {
            return 1;
        }
    }

    private static void deeper() {
        depth++;
        deeper();
    }

    private static boolean overflows() {
        depth = 0;
        try {
            deeper();
            return false;
        } catch (StackOverflowError e) {
            return depth > 100;
        }
    }

    private static boolean losesAFile(Path path) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
                FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            file.setLength(1 << 20);
            MemorySegment bytes = channel.map(MapMode.READ_ONLY, 0, 1 << 20, arena);
            file.setLength(0);
            try {
                return bytes.get(ValueLayout.JAVA_BYTE, 1 << 19) == 1;
            } catch (InternalError e) {
                return true;
            }
        }
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
