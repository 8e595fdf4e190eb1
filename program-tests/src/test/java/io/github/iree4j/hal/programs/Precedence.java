package io.github.iree4j.hal.programs;

import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Point;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The nodes with certain success before the begin of a node, by the rules for timelines alone. A value is reached by
 * the first signal of the value or a greater value, so a wait proves only the common part of all these signallers.
 *
 * <p>The signallers of a line follow each other, except for racing signallers. A racing signaller follows the last
 * non-racing signaller, and proves no more: a later signaller need not wait for the racing signaller, and may be
 * quicker.
 */
final class Precedence {
    private record Signal(long value, BitSet proves) {}

    private static final class Line {
        final List<Signal> signals = new ArrayList<>(); // values ascend
        int last = -1; // the last non-racing signaller
        BitSet lastProves = new BitSet();

        long top() {
            return signals.isEmpty() ? 0 : signals.getLast().value;
        }
    }

    private final List<Line> lines = new ArrayList<>();
    private final List<BitSet> past = new ArrayList<>(); // by node

    /** Adds a timeline and returns the number. */
    int newLine() {
        lines.add(new Line());
        return lines.size() - 1;
    }

    int lines() {
        return lines.size();
    }

    /** The greatest value with a signaller; 0 for none. */
    long top(int line) {
        return lines.get(line).top();
    }

    /** The greatest smaller value with a signaller; 0 for none. */
    long below(Point point) {
        long below = 0;
        for (Signal signal : lines.get(point.line()).signals) {
            below = signal.value < point.value() ? signal.value : below;
        }
        return below;
    }

    /** Whether a node behind these may signal the line next. */
    boolean maySignal(int line, BitSet following) {
        int last = lines.get(line).last;
        return last < 0 || following.get(last);
    }

    /** The certain successes when a value with a signaller is reached. */
    BitSet before(Point point) {
        BitSet common = null;
        for (Signal signal : lines.get(point.line()).signals) {
            if (signal.value >= point.value()) {
                if (common == null) {
                    common = (BitSet) signal.proves.clone();
                } else {
                    common.and(signal.proves);
                }
            }
        }
        return common == null ? new BitSet() : common;
    }

    /** The certain successes before a node. */
    BitSet past(int node) {
        return past.get(node);
    }

    /** Adds the next node. */
    void add(Node node) {
        BitSet before = new BitSet();
        node.waits().forEach(wait -> before.or(before(wait)));
        past.add(before);
        BitSet proves = (BitSet) before.clone();
        proves.set(node.index());
        for (Point point : node.signals()) {
            Line line = lines.get(point.line());
            if (!node.racing()) {
                line.last = node.index();
                line.lastProves = proves;
            }
            line.signals.add(new Signal(point.value(), line.lastProves));
        }
    }
}
