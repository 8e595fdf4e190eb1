package io.github.iree4j;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/** Bytes allocated by this thread. */
public final class AllocatedBytes {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 10_000;

    private AllocatedBytes() {}

    /** Returns the bytes allocated by a call, the least average of several attempts: compilation may allocate in between. */
    public static double perCall(Runnable call) {
        for (int i = 0; i < ROUNDS; i++) {
            call.run();
        }
        double least = Double.MAX_VALUE;
        for (int attempt = 0; attempt < 5; attempt++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ROUNDS; i++) {
                call.run();
            }
            least = Math.min(least, (double) (THREADS.getCurrentThreadAllocatedBytes() - before) / ROUNDS);
        }
        return least;
    }

    /** Skips a test unless objects have the sizes given in comments and documents. */
    public static void assumeDefaultLayout() {
        assumeFlag("UseCompressedOops", "true");
        assumeFlag("UseCompressedClassPointers", "true");
        assumeFlag("UseCompactObjectHeaders", "false");
        assumeFlag("ObjectAlignmentInBytes", "8");
    }

    private static void assumeFlag(String name, String value) {
        String actual = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption(name)
                .getValue();
        assumeTrue(actual.equals(value), "objects have other sizes: " + name + " is " + actual);
    }
}
