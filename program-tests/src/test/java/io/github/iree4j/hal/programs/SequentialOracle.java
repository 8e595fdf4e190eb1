package io.github.iree4j.hal.programs;

import io.github.iree4j.hal.programs.QueueProgram.Copy;
import io.github.iree4j.hal.programs.QueueProgram.Effect;
import io.github.iree4j.hal.programs.QueueProgram.Fault;
import io.github.iree4j.hal.programs.QueueProgram.Fill;
import io.github.iree4j.hal.programs.QueueProgram.Kind;
import io.github.iree4j.hal.programs.QueueProgram.Look;
import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Point;
import io.github.iree4j.hal.programs.QueueProgram.Range;
import io.github.iree4j.hal.programs.QueueProgram.Scale;
import io.github.iree4j.hal.programs.QueueProgram.Update;
import io.github.iree4j.hal.programs.Verdicts.Verdict;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Judges the observations of a program. The oracle runs the succeeded nodes one after the other, in plain Java: each
 * byte seen by the host must match. Bytes written by nobody, or perhaps written by a failed node, are unknown.
 *
 * <p>Required successes and failures are in {@link Verdicts}. Whoever might have done either must have been consistent:
 * a success has all waits reached, and a failure has a root possible for its timelines.
 */
final class SequentialOracle {
    /** The observations. */
    interface Observation {
        /** The last value of a timeline. */
        long value(int line);

        /** Why a timeline failed; null when it did not. */
        @Nullable
        IreeException failure(int line);

        /** The bytes seen by an effect of a node; null when not run. */
        byte @Nullable [] seen(int node, int effect);

        /** The content of a block in the end; null when unreadable. */
        byte @Nullable [] contents(int block);
    }

    private final QueueProgram program;
    private final Verdicts verdicts;
    private final Observation observed;
    private final List<String> wrong = new ArrayList<>();
    private final byte[][] bytes;
    private final boolean[][] known;

    SequentialOracle(QueueProgram program, Verdicts verdicts, Observation observed) {
        this.program = program;
        this.verdicts = verdicts;
        this.observed = observed;
        this.bytes = program.blocks().stream().map(b -> new byte[b.size()]).toArray(byte[][]::new);
        this.known = program.blocks().stream().map(b -> new boolean[b.size()]).toArray(boolean[][]::new);
    }

    /** Returns the fault found; nothing, if all is well. */
    List<String> judge() {
        boolean[] readable = new boolean[bytes.length];
        for (int line = 0; line < program.lines(); line++) {
            judgeFailure(line);
        }
        for (Node node : program.nodes()) {
            boolean succeeded = judgeOutcome(node);
            for (int i = 0; i < node.effects().size() && node.fault() != Fault.OUT_OF_RANGE; i++) {
                apply(node, i, succeeded);
            }
            if (node.kind() == Kind.ALLOCA || node.kind() == Kind.DEALLOCA) {
                readable[node.block()] = succeeded
                        && node.kind() == Kind.ALLOCA
                        && !program.blocks().get(node.block()).closed();
            }
        }
        for (int i = 0; i < bytes.length; i++) {
            byte[] contents = readable[i] ? observed.contents(i) : null;
            if (contents != null) {
                compare("block " + i + " in the end", new Range(i, 0, contents.length), contents);
            }
        }
        return wrong;
    }

    private boolean isReached(Point point) {
        return observed.value(point.line()) >= point.value();
    }

    private void judgeFailure(int line) {
        IreeException failure = observed.failure(line);
        if (failure == null || verdicts.causes(line).stream().anyMatch(n -> isOf(failure, n))) {
            return;
        }
        wrong.add("t%d failed, without a fault among its dependencies: %s".formatted(line, failure));
    }

    private static boolean isOf(IreeException failure, Node node) {
        return switch (node.fault()) {
            case null -> false;
            case OUT_OF_RANGE -> failure.code() == StatusCode.OUT_OF_RANGE;
            case AFTER_DEALLOCA ->
                failure.code() == StatusCode.FAILED_PRECONDITION
                        && String.valueOf(failure.getMessage()).contains("has been deallocated");
            default -> String.valueOf(failure.getMessage()).contains(node.token());
        };
    }

    /** Returns whether the node has succeeded for sure. */
    private boolean judgeOutcome(Node node) {
        List<Point> reached = node.signals().stream().filter(this::isReached).toList();
        Verdict verdict = verdicts.of(node);
        for (Point point : node.signals()) {
            if (verdict == Verdict.SUCCEEDS && verdicts.causes(point.line()).isEmpty() && !isReached(point)) {
                wrong.add("node " + node.index() + " had to succeed and did not reach " + point + ": "
                        + observed.failure(point.line()));
            }
        }
        if (node.racing() || reached.isEmpty()) {
            return false; // others may have reached the value
        }
        if (verdict == Verdict.FAILS) {
            wrong.add("node " + node.index() + " had to fail and reached " + reached);
        }
        for (Point wait : node.waits()) {
            if (!isReached(wait)) {
                wrong.add("node " + node.index() + " succeeded, and the wait " + wait + " was not reached");
            }
        }
        return true;
    }

    private void apply(Node node, int index, boolean succeeded) {
        Effect effect = node.effects().get(index);
        Range written = effect.written();
        if (!succeeded) {
            if (written != null) {
                Arrays.fill(known[written.block()], written.offset(), written.end(), false);
            }
            return;
        }
        switch (effect) {
            case Fill fill -> {
                for (int i = 0; i < fill.written().length(); i++) {
                    set(fill.written(), i, (byte) (fill.pattern() >>> i % fill.width() * 8), true);
                }
            }
            case Update update -> {
                for (int i = 0; i < update.written().length(); i++) {
                    set(update.written(), i, update.at(i), true);
                }
            }
            case Copy copy -> {
                Range from = copy.read();
                Range into = copy.written();
                System.arraycopy(bytes[from.block()], from.offset(), bytes[into.block()], into.offset(), into.length());
                System.arraycopy(known[from.block()], from.offset(), known[into.block()], into.offset(), into.length());
            }
            case Scale scale -> scale(scale);
            case Look look -> {
                byte[] seen = observed.seen(node.index(), index);
                if (seen == null) {
                    wrong.add("node " + node.index() + " succeeded, and did not run");
                } else {
                    compare("node " + node.index(), look.read(), seen);
                }
            }
        }
    }

    private void scale(Scale scale) {
        Range from = scale.read();
        ByteBuffer in = ByteBuffer.wrap(bytes[from.block()]).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < scale.written().length(); i += 4) {
            int value = in.getInt(from.offset() + i) * scale.factor() + scale.addend();
            for (int j = 0; j < 4; j++) {
                int at = from.offset() + i;
                boolean[] all = known[from.block()];
                set(
                        scale.written(),
                        i + j,
                        (byte) (value >>> 8 * j),
                        all[at] && all[at + 1] && all[at + 2] && all[at + 3]);
            }
        }
    }

    private void set(Range range, int index, byte value, boolean isKnown) {
        bytes[range.block()][range.offset() + index] = value;
        known[range.block()][range.offset() + index] = isKnown;
    }

    private void compare(String where, Range range, byte[] found) {
        for (int i = 0; i < range.length(); i++) {
            int at = range.offset() + i;
            if (known[range.block()][at] && bytes[range.block()][at] != found[i]) {
                wrong.add("%s has %d at byte %d of block %d, not %d"
                        .formatted(where, found[i], at, range.block(), bytes[range.block()][at]));
                return;
            }
        }
    }
}
