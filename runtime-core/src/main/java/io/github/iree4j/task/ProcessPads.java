package io.github.iree4j.task;

/**
 * Padding between fields of a process that different threads write: 128 bytes, because processors fetch pairs of
 * 64-byte lines.
 *
 * <p>The JVM lays out the fields of a superclass before the fields of subclasses, and fills gaps only with fitting
 * fields; frequently written words are of type {@code long}, too large for any gap.
 */
@SuppressWarnings("unused")
final class ProcessPads {
    private ProcessPads() {}

    /** Padding between the constant fields and the fields written by signallers. */
    abstract static class BeforeActivation extends ProcessIdentity {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aa, ab, ac, ad, ae, af;

        BeforeActivation(ProcessOptions options) {
            super(options);
        }
    }

    /** Padding between the fields written by signallers and by drainers. */
    abstract static class BeforeSchedule extends ProcessActivation {
        long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, ba, bb, bc, bd, be, bf;

        BeforeSchedule(ProcessOptions options) {
            super(options);
        }
    }

    /** Padding between the fields written by drainers and the fields of the subclass. */
    abstract static class AfterSchedule extends ProcessSchedule {
        long c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, ca, cb, cc, cd, ce, cf;

        AfterSchedule(ProcessOptions options) {
            super(options);
        }
    }
}
