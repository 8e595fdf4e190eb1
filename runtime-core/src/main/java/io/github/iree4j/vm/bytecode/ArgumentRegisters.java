package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The words of a frame receiving a function's arguments: the first words in order, with 64-bit values at even ordinals.
 *
 * <p>Compilers until IREE 3.4 instead gave each argument the first free word, or pair: in {@code (i32, i64, i32)} the
 * last argument goes into the word skipped for the alignment of the second. Runtimes never did, so such functions
 * computed with wrong arguments. A module does not record the compiler. The evidence is code reading a word before any
 * write, although no argument is stored in the word.
 */
final class ArgumentRegisters {
    /** Limit of the analysis of a module, in instructions visited. */
    private static final long MAX_WORK = 20_000_000;

    private long left = MAX_WORK;

    interface Graphs {
        FunctionGraph of(int function);
    }

    /** Returns the words of arguments in order, two words for a 64-bit argument. */
    static int[] inOrder(String letters) {
        return allocate(letters, false);
    }

    private static int[] firstFree(String letters) {
        return allocate(letters, true);
    }

    private static int[] allocate(String letters, boolean fillsGaps) {
        int[] words = new int[2 * letters.length()];
        BitSet taken = new BitSet();
        int count = 0;
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            if (letter == 'r') {
                continue;
            }
            boolean wide = letter == 'I' || letter == 'F';
            int word = fillsGaps ? taken.nextClearBit(0) : taken.length();
            while (wide && ((word & 1) != 0 || taken.get(word + 1))) {
                word = taken.nextClearBit(word + 1);
            }
            for (int half = 0; half < (wide ? 2 : 1); half++) {
                taken.set(word + half);
                words[count++] = word + half;
            }
        }
        return Arrays.copyOf(words, count);
    }

    /**
     * Moves the arguments of a module's functions to the registers expected by the compiler.
     *
     * @param functions all functions of the module
     * @param graphs graphs of the functions to be examined
     */
    static void correct(FunctionCode[] functions, Graphs graphs) {
        new ArgumentRegisters().find(functions, graphs);
    }

    private void find(FunctionCode[] functions, Graphs graphs) {
        boolean[] possible = new boolean[functions.length];
        boolean proven = false;
        for (int i = 0; i < functions.length; i++) {
            String letters = functions[i].convention.arguments();
            int[] inOrder = inOrder(letters);
            int[] firstFree = firstFree(letters);
            if (!Arrays.equals(inOrder, firstFree)) {
                BitSet read = left > 0 ? readFirst(graphs.of(i), inOrder[inOrder.length - 1] + 1) : null;
                possible[i] = read == null || isWithin(read, firstFree);
                proven |= read != null && possible[i] && !isWithin(read, inOrder);
            }
        }
        for (int i = 0; proven && i < functions.length; i++) {
            if (possible[i]) {
                functions[i].storeArgumentsIn(firstFree(functions[i].convention.arguments()));
            }
        }
    }

    private static boolean isWithin(BitSet read, int[] words) {
        BitSet others = (BitSet) read.clone();
        for (int word : words) {
            others.clear(word);
        }
        return others.isEmpty();
    }

    /** Returns the words below a bound that may be read before being written; null when the analysis takes too long. */
    private @Nullable BitSet readFirst(FunctionGraph graph, int bound) {
        List<Block> blocks = graph.blocks;
        int[][] predecessors = graph.predecessors();
        BitSet[] entry = new BitSet[blocks.size()];
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        BitSet isPending = new BitSet();
        for (int b = 0; b < entry.length; b++) {
            entry[b] = new BitSet(0);
            pending.push(b); // the last block first
            isPending.set(b);
        }
        while (!pending.isEmpty()) {
            int b = pending.pop();
            isPending.clear(b);
            left -= blocks.get(b).nodes().size() + 1L + bound / Long.SIZE;
            if (left <= 0) {
                return null;
            }
            BitSet live = before(blocks.get(b), entry, bound);
            if (!live.equals(entry[b])) {
                entry[b] = live;
                for (int predecessor : predecessors[b]) {
                    if (!isPending.get(predecessor)) {
                        isPending.set(predecessor);
                        pending.push(predecessor);
                    }
                }
            }
        }
        return entry[0];
    }

    private static BitSet before(Block block, BitSet[] entry, int bound) {
        BitSet live = new BitSet();
        for (Edge edge : block.last().edges) {
            BitSet through = (BitSet) entry[edge.target()].clone();
            for (int m = edge.moves().size() - 1; m >= 0; m--) {
                Move move = edge.moves().get(m);
                if (!move.ref) {
                    mark(through, move.to, move.wide, false, bound);
                    mark(through, move.from, move.wide, true, bound);
                }
            }
            live.or(through);
        }
        for (int n = block.nodes().size() - 1; n >= 0; n--) {
            Node node = block.nodes().get(n);
            for (int i = 0; i < node.defs.length; i++) {
                if (node.defKinds[i] != FunctionGraph.R) {
                    mark(live, node.defs[i], RegisterPlan.isWide(node.defKinds[i]), false, bound);
                }
            }
            for (int i = 0; i < node.uses.length; i++) {
                if (node.useKinds[i] != FunctionGraph.R) {
                    mark(live, node.uses[i], RegisterPlan.isWide(node.useKinds[i]), true, bound);
                }
            }
        }
        return live;
    }

    private static void mark(BitSet live, int word, boolean wide, boolean isRead, int bound) {
        for (int each = word; each < Math.min(bound, word + (wide ? 2 : 1)); each++) {
            live.set(each, isRead);
        }
    }
}
