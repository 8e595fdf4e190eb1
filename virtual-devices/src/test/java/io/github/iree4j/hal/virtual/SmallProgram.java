package io.github.iree4j.hal.virtual;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A few operations on a few queues, for a trial of every interleaving. Each operation has a separate submitter, for a
 * free order of submission, or each queue has one; the end of each operation is a separate step, and so is each signal
 * by hand, each cancellation and the loss of the device.
 *
 * <p>Points are numbered: 0 and 1 are values 1 and 2 of timeline S, 2 and 3 of timeline T. Several operations may wait
 * for a point, at most one signals the point.
 *
 * @param queues the kind of each: {@code F} a stream, {@code U} an unordered queue, both of device 0; {@code f} a
 * stream of device 1, with waits for the other on the host
 * @param operations in no order
 * @param byHand the points signalled by the host, as bits
 * @param allocated the blocks present at the beginning, as bits
 * @param cancellable the cancellable operations, as bits
 * @param loss whether device 0 may be lost
 * @param lateReports whether the report of an end is a separate step
 * @param inOrder whether the operations of a queue are submitted one after the other
 */
record SmallProgram(
        String queues,
        List<Operation> operations,
        int byHand,
        int allocated,
        int cancellable,
        boolean loss,
        boolean lateReports,
        boolean inOrder) {
    static final int POINTS = 4;

    /** Blocks 0 and 1 take half of the memory each, block 2 takes all. */
    static final int BLOCKS = 3;

    static final int WHOLE = 2;

    /** Names of the blocks. */
    static final String LETTERS = "AKB";

    enum Kind {
        WORK,
        ALLOCATE,
        FREE
    }

    /**
     * An operation.
     *
     * @param queue the queue
     * @param kind the kind
     * @param block the block; 0 for work
     * @param waits the points, as bits
     * @param signal the point, -1 for none
     */
    record Operation(int queue, Kind kind, int block, int waits, int signal) {
        boolean waitsFor(int point) {
            return (waits >> point & 1) != 0;
        }

        /** Whether a signal of the other reaches a wait of this. */
        boolean mayFollow(Operation other) {
            return other.signal >= 0 && (waits & atOrBelow(other.signal)) != 0;
        }
    }

    /**
     * An operation, in words.
     *
     * @param queue its queue
     * @param what {@code work}, {@code allocate A} or {@code free A}
     * @param waits the points, as in {@code S1,T2}; empty for none
     * @param signal the point; empty for none
     */
    static Operation operation(int queue, String what, String waits, String signal) {
        Kind kind = what.startsWith("w") ? Kind.WORK : what.startsWith("a") ? Kind.ALLOCATE : Kind.FREE;
        int block = kind == Kind.WORK ? 0 : LETTERS.indexOf(what.charAt(what.length() - 1));
        return new Operation(queue, kind, block, points(waits), signal.isEmpty() ? -1 : point(signal));
    }

    /** The bits of points. */
    static int points(String names) {
        int bits = 0;
        for (String name : names.isEmpty() ? new String[0] : names.split(",")) {
            bits |= 1 << point(name);
        }
        return bits;
    }

    private static int point(String name) {
        return (name.charAt(0) == 'S' ? 0 : 2) + name.charAt(1) - '1';
    }

    SmallProgram {
        operations = List.copyOf(operations);
    }

    /** The points reached by a signal. */
    static int atOrBelow(int point) {
        return point % 2 == 0 ? 1 << point : 3 << point - 1;
    }

    int size() {
        return operations.size();
    }

    boolean usesMemory() {
        return operations.stream().anyMatch(each -> each.kind != Kind.WORK);
    }

    /**
     * A program without cancellation, loss and late reports, with operations submitted in any order.
     *
     * @param queues as {@link #queues()}
     * @param operations the operations
     * @param byHand as {@link #byHand()}
     * @param allocated as {@link #allocated()}
     */
    static SmallProgram of(String queues, List<Operation> operations, int byHand, int allocated) {
        return new SmallProgram(queues, operations, byHand, allocated, 0, false, false, false);
    }

    SmallProgram withCancellations() {
        return withCancellationsOf((1 << size()) - 1);
    }

    SmallProgram withCancellationsOf(int some) {
        return new SmallProgram(queues, operations, byHand, allocated, some, loss, lateReports, inOrder);
    }

    SmallProgram withLoss() {
        return new SmallProgram(queues, operations, byHand, allocated, cancellable, true, lateReports, inOrder);
    }

    SmallProgram withLateReports() {
        return new SmallProgram(queues, operations, byHand, allocated, cancellable, loss, true, inOrder);
    }

    SmallProgram submittedInOrder() {
        return new SmallProgram(queues, operations, byHand, allocated, cancellable, loss, lateReports, true);
    }

    /** Whether an operation can be submitted after the operations with these bits. */
    boolean isNext(int index, int submitted) {
        for (int i = 0; inOrder && i < index; i++) {
            if (operations.get(i).queue == operations.get(index).queue && (submitted >> i & 1) == 0) {
                return false;
            }
        }
        return (submitted >> index & 1) == 0;
    }

    static boolean conflict(int block, int other) {
        return block != other && (block == WHOLE || other == WHOLE);
    }

    static String name(int point) {
        return (point < 2 ? "S" : "T") + (point % 2 + 1);
    }

    static String name(char queue, int index) {
        return queue + "" + index;
    }

    private static String points(int bits) {
        List<String> names = new ArrayList<>();
        for (int p = 0; p < POINTS; p++) {
            if ((bits >> p & 1) != 0) {
                names.add(name(p));
            }
        }
        return String.join(",", names);
    }

    String describe(int index) {
        Operation each = operations.get(index);
        String what = each.kind == Kind.WORK
                ? "work"
                : each.kind.name().toLowerCase(Locale.ROOT) + " " + LETTERS.charAt(each.block);
        return "%d: %s on %s%s%s"
                .formatted(
                        index,
                        what,
                        name(queues.charAt(each.queue), each.queue),
                        each.waits == 0 ? "" : " after " + points(each.waits),
                        each.signal < 0 ? "" : " signals " + name(each.signal));
    }

    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            lines.add(describe(i));
        }
        return "queues " + queues + "; " + String.join("; ", lines) + (byHand == 0 ? "" : "; by hand " + points(byHand))
                + (allocated == 0 ? "" : "; allocated before: " + Integer.toBinaryString(allocated))
                + (cancellable == 0 ? "" : "; cancellable: " + Integer.toBinaryString(cancellable))
                + (inOrder ? "; in order" : "") + (loss ? "; loss" : "") + (lateReports ? "; late reports" : "");
    }
}
