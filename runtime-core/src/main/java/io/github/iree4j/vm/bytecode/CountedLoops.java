package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static io.github.iree4j.vm.bytecode.FunctionGraph.R;

import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the loops of a function that count up to a bound. Backward jumps are counted for cancellation checks, but
 * HotSpot does not unroll, vectorise or hoist range checks out of a loop with a second counter. Counted loops need no
 * second counter: such a loop runs up to a limit at most a fixed number of iterations away, checks, then runs up to the
 * next limit.
 *
 * <p>A counted loop has one backward jump, continues while {@code counter < bound}, does not change the bound, and
 * changes the counter by exactly one addition per iteration. The sign of the increment may be checked at run time.
 */
final class CountedLoops {
    /** Bounds the search for loops, which is quadratic in the size of the code. */
    private static final int MAX_VISITS = 200_000;

    /**
     * A loop-invariant value.
     *
     * @param register the register; -1 for a literal
     * @param literal the value of a literal
     */
    record Operand(int register, long literal) {}

    /**
     * A loop.
     *
     * @param header the first block
     * @param last the block jumping back
     * @param test the comparing block: the first block, without any other operation then, or the last block
     * @param kind of counter, bound and step, I or L
     * @param counter the counter's register at the start of the header
     * @param bound the upper bound of the counter
     * @param step the increment
     */
    record Loop(int header, int last, int test, byte kind, int counter, Operand bound, Operand step) {
        boolean testsFirst() {
            return test != last;
        }
    }

    private final FunctionGraph graph;
    private final @Nullable Part part;
    private final boolean[] entries;
    private final int[][] predecessors;
    private final @Nullable Loop[] byHeader;
    private final @Nullable Loop[] byTest;
    private boolean[] inside = {};
    private int visits;

    /**
     * Finds the loops.
     *
     * @param graph the function
     * @param part the part that becomes a method; null for the whole function
     */
    CountedLoops(FunctionGraph graph, @Nullable Part part) {
        this.graph = graph;
        this.part = part;
        entries = new boolean[graph.blocks.size()];
        for (int entry : part == null ? new int[] {0} : part.entries) {
            entries[entry] = true;
        }
        predecessors = graph.predecessors();
        byHeader = new Loop[graph.blocks.size()];
        byTest = new Loop[graph.blocks.size()];
        for (int source = 0; source < byHeader.length && visits < MAX_VISITS; source++) {
            for (Edge edge : graph.blocks.get(source).last().edges) {
                if (edge.target() <= source) {
                    Loop loop = find(edge.target(), source, edge);
                    if (loop != null && byTest[loop.test] == null) {
                        byHeader[loop.header] = loop;
                        byTest[loop.test] = loop;
                    }
                }
            }
        }
    }

    @Nullable
    Loop headedBy(int block) {
        return byHeader[block];
    }

    @Nullable
    Loop testedBy(int block) {
        return byTest[block];
    }

    /** Returns whether a node loads the elements to be summed by a loop of one block, and the loop does nothing else. */
    boolean isSummed(int block, Node load) {
        Loop loop = byTest[block];
        if (loop == null || loop.header != block || load.op != Op.BUFFER_LOAD_I32) {
            return false;
        }
        int loads = 0;
        int sums = 0;
        for (Node node : graph.blocks.get(block).nodes()) {
            if (node.op == Op.ADD_I32) {
                boolean isSum = node.uses[0] == load.defs[0] || node.uses[1] == load.defs[0];
                sums += isSum ? 1 : 0;
            } else if (node.op == Op.BUFFER_LOAD_I32) {
                loads++;
            } else if (node.op != Op.ADD_I64
                    && node.op != Op.COND_BR
                    && !isConstant(node)
                    && !ComparisonEmitter.isComparison(node.op)) {
                return false;
            }
        }
        return loads == 1 && sums == 1;
    }

    private @Nullable Loop find(int header, int last, Edge back) {
        if (!collect(header, last) || jumpsBack(header) != 1) {
            return null;
        }
        Loop below = comparedBy(last, header, last, back);
        return below != null || last == header ? below : comparedBy(header, header, last, back);
    }

    /** Collects the blocks of a loop; returns false when the loop has an entry besides the header, or is not entirely in the part. */
    private boolean collect(int header, int last) {
        if (!isMember(header)) {
            return false;
        }
        inside = new boolean[byHeader.length];
        inside[header] = true;
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        if (last != header) {
            inside[last] = true;
            pending.add(last);
        }
        while (!pending.isEmpty()) {
            int block = pending.remove();
            if (entries[block] || !isMember(block) || ++visits > MAX_VISITS) {
                return false;
            }
            for (int predecessor : predecessors[block]) {
                if (!inside[predecessor]) {
                    inside[predecessor] = true;
                    pending.add(predecessor);
                }
            }
        }
        return true;
    }

    private boolean isMember(int block) {
        return part == null || part.members[block];
    }

    private int jumpsBack(int header) {
        int count = 0;
        for (int predecessor : predecessors[header]) {
            count += inside[predecessor] ? 1 : 0;
        }
        return count;
    }

    private @Nullable Loop comparedBy(int test, int header, int last, Edge back) {
        List<Node> nodes = graph.blocks.get(test).nodes();
        if (nodes.size() < 2) {
            return null;
        }
        Node branch = nodes.getLast();
        Node comparison = nodes.get(nodes.size() - 2);
        boolean wide = comparison.op == Op.CMP_LT_I64_S;
        if (branch.op != Op.COND_BR
                || !wide && comparison.op != Op.CMP_LT_I32_S
                || branch.uses[0] != comparison.defs[0]) {
            return null;
        }
        int whenTrue = branch.edges.getFirst().target();
        int whenFalse = branch.edges.get(1).target();
        boolean first = test != last;
        if (inside[whenFalse] || (first ? !inside[whenTrue] || !isRepeatable(nodes) : whenTrue != header)) {
            return null;
        }
        byte kind = wide ? L : I;
        int compared = comparison.uses[0];
        Operand bound = unchanged(comparison.uses[1], kind, test, nodes.size());
        if (bound == null) {
            return null;
        }
        List<Object> changes = changesOf(compared, kind);
        if (changes.size() != 1) {
            return null;
        }
        if (changes.getFirst() instanceof Node sum) {
            Operand step = stepOf(sum, compared, kind, header, last);
            if (step != null) {
                return new Loop(header, last, test, kind, compared, bound, step);
            }
            // The loop compares the sum, and the sum becomes the counter on the way back.
            for (Move move : back.moves()) {
                if (!first && !move.ref && move.from == compared && move.wide == wide) {
                    step = stepOf(sum, move.to, kind, header, last);
                    if (step != null && changesOf(move.to, kind).equals(List.of(move))) {
                        return new Loop(header, last, test, kind, move.to, bound, step);
                    }
                }
            }
            return null;
        }
        // The loop compares the counter, and the counter takes the sum on the way back.
        Move move = (Move) changes.getFirst();
        if (move.wide != wide || !back.moves().contains(move)) {
            return null;
        }
        List<Object> sums = changesOf(move.from, kind);
        Operand step = sums.size() == 1 && sums.getFirst() instanceof Node sum
                ? stepOf(sum, compared, kind, header, last)
                : null;
        return step == null ? null : new Loop(header, last, test, kind, compared, bound, step);
    }

    /** Returns whether a block is idempotent: only constants and a comparison. */
    private static boolean isRepeatable(List<Node> nodes) {
        for (int i = 0; i < nodes.size() - 2; i++) {
            if (!isConstant(nodes.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isConstant(Node node) {
        return node.op == Op.CONST_I32
                || node.op == Op.CONST_I32_ZERO
                || node.op == Op.CONST_I64
                || node.op == Op.CONST_I64_ZERO;
    }

    /** Returns the increment added by a node to a counter in each iteration; null if the node does something else. */
    private @Nullable Operand stepOf(Node sum, int counter, byte kind, int header, int last) {
        if (sum.op != (kind == L ? Op.ADD_I64 : Op.ADD_I32)) {
            return null;
        }
        int other = sum.uses[0] == counter ? sum.uses[1] : sum.uses[1] == counter ? sum.uses[0] : -1;
        for (int block : new int[] {header, last}) {
            int at = graph.blocks.get(block).nodes().indexOf(sum);
            if (at >= 0 && other >= 0) {
                return unchanged(other, kind, block, at);
            }
        }
        return null;
    }

    /** Returns the invariant value of a register at a place in the loop; null if the register may change. */
    private @Nullable Operand unchanged(int register, byte kind, int block, int before) {
        List<Object> changes = changesOf(register, kind);
        if (changes.isEmpty()) {
            return new Operand(register, 0);
        }
        boolean set = false;
        long literal = 0;
        for (Object change : changes) {
            if (!(change instanceof Node node) || !isConstant(node) || node.defKinds[0] != kind) {
                return null;
            }
            if (literal != node.literal && !changes.getFirst().equals(change)) {
                return null;
            }
            literal = node.literal;
            int at = graph.blocks.get(block).nodes().indexOf(node);
            set |= at >= 0 && at < before;
        }
        return set ? new Operand(-1, literal) : null;
    }

    /** Returns the instructions and copies in the loop that write a register or a part of the register. */
    private List<Object> changesOf(int register, byte kind) {
        List<Object> changes = new ArrayList<>();
        int end = register + (kind == L ? 2 : 1);
        for (int b = 0; b < inside.length; b++) {
            if (!inside[b]) {
                continue;
            }
            Block block = graph.blocks.get(b);
            visits += block.nodes().size();
            for (Node node : block.nodes()) {
                for (int k = 0; k < node.defs.length; k++) {
                    int size = RegisterPlan.isWide(node.defKinds[k]) ? 2 : 1;
                    if (node.defKinds[k] != R && node.defs[k] < end && register < node.defs[k] + size) {
                        changes.add(node);
                    }
                }
            }
            for (Edge edge : block.last().edges) {
                for (Move move : edge.moves()) {
                    if (inside[edge.target()]
                            && !move.ref
                            && move.to < end
                            && register < move.to + (move.wide ? 2 : 1)) {
                        changes.add(move);
                    }
                }
            }
        }
        return changes;
    }
}
