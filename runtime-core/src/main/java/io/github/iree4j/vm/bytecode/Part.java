package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.R;

import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import java.util.ArrayDeque;

/**
 * Blocks of a function compiled to a Java method, to continue a frame of the interpreter and store everything back when
 * done. A function too large for a single method is split into several parts; a loop already being executed by a thread
 * becomes a part too.
 */
final class Part {
    /** Per block, whether the block is a member. */
    final boolean[] members;

    /** Entry blocks, ascending. */
    final int[] entries;

    /** Per pair of words, whether the part uses either word. Other pairs stay in the frame. */
    final boolean[] pairs;

    /** Per reference, whether the part uses the reference. */
    final boolean[] refs;

    Part(FunctionGraph graph, boolean[] members, int[] entries) {
        this.members = members;
        this.entries = entries;
        pairs = new boolean[graph.words / 2];
        refs = new boolean[graph.refs];
        for (int b = 0; b < members.length; b++) {
            if (members[b]) {
                touch(graph.blocks.get(b));
            }
        }
    }

    /** Returns the part of all blocks reachable from a block. */
    static Part from(FunctionGraph graph, int block) {
        boolean[] members = new boolean[graph.blocks.size()];
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        members[block] = true;
        pending.add(block);
        while (!pending.isEmpty()) {
            for (Edge edge : graph.blocks.get(pending.remove()).last().edges) {
                if (!members[edge.target()]) {
                    members[edge.target()] = true;
                    pending.add(edge.target());
                }
            }
        }
        return new Part(graph, members, new int[] {block});
    }

    private void touch(Block block) {
        for (Node node : block.nodes()) {
            for (int i = 0; i < node.uses.length; i++) {
                touch(node.useKinds[i] == R, node.uses[i]);
            }
            for (int i = 0; i < node.defs.length; i++) {
                touch(node.defKinds[i] == R, node.defs[i]);
            }
            for (Edge edge : node.edges) {
                for (Move move : edge.moves()) {
                    touch(move.ref, move.from);
                    touch(move.ref, move.to);
                }
            }
        }
    }

    private void touch(boolean ref, int operand) {
        if (ref) {
            refs[operand & ~Code.MOVE] = true;
        } else {
            pairs[operand >> 1] = true;
        }
    }
}
