package io.github.iree4j.hal.programs;

import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Point;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The nodes of a program with certain success, and with certain failure, in any timing. The others depend on timing: a
 * timeline fails as a whole, so a timely wait for a value succeeds, and a later wait does not.
 */
final class Verdicts {
    /** The outcome of a node. */
    enum Verdict {
        SUCCEEDS,
        FAILS,
        DEPENDS
    }

    private record Signal(Node node, long value) {}

    private final QueueProgram program;
    private final List<List<Signal>> signals = new ArrayList<>(); // by line
    private final BitSet failing = new BitSet(); // nodes
    private final List<BitSet> causesOfLine = new ArrayList<>(); // nodes with faults that may fail the line
    private final List<BitSet> causesOfNode = new ArrayList<>();

    Verdicts(QueueProgram program) {
        this.program = program;
        for (int i = 0; i < program.lines(); i++) {
            signals.add(new ArrayList<>());
            causesOfLine.add(new BitSet());
        }
        for (Node node : program.nodes()) {
            causesOfNode.add(new BitSet());
            node.signals().forEach(p -> signals.get(p.line()).add(new Signal(node, p.value())));
        }
        boolean more = true;
        while (more) {
            more = false;
            for (Node node : program.nodes()) {
                more |= spreadCauses(node) | spreadFailure(node);
            }
        }
    }

    private boolean spreadCauses(Node node) {
        BitSet causes = causesOfNode.get(node.index());
        int before = causes.cardinality();
        if (node.fault() != null) {
            causes.set(node.index());
        }
        node.waits().forEach(p -> causes.or(causesOfLine.get(p.line())));
        boolean more = causes.cardinality() > before;
        for (Point point : node.signals()) {
            BitSet line = causesOfLine.get(point.line());
            int less = line.cardinality();
            line.or(causes);
            more |= line.cardinality() > less;
        }
        return more;
    }

    private boolean spreadFailure(Node node) {
        if (failing.get(node.index())
                || node.fault() == null && node.waits().stream().noneMatch(this::isNeverReached)) {
            return false;
        }
        failing.set(node.index());
        return true;
    }

    private boolean isNeverReached(Point point) {
        return signals.get(point.line()).stream()
                .noneMatch(s -> s.value >= point.value() && !failing.get(s.node.index()));
    }

    Verdict of(Node node) {
        return failing.get(node.index())
                ? Verdict.FAILS
                : causesOfNode.get(node.index()).isEmpty() ? Verdict.SUCCEEDS : Verdict.DEPENDS;
    }

    /** The nodes with faults that may fail a timeline. */
    List<Node> causes(int line) {
        return causesOfLine.get(line).stream().mapToObj(program.nodes()::get).toList();
    }

    /** The first possible signaller of a value. */
    Node reacher(Point point) {
        return signals.get(point.line()).stream()
                .filter(s -> s.value >= point.value())
                .findFirst()
                .orElseThrow()
                .node;
    }
}
