package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.D;
import static io.github.iree4j.vm.bytecode.FunctionGraph.F;
import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static io.github.iree4j.vm.bytecode.FunctionGraph.R;

import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides the form of each word register at the start of each block. A word may be in an {@code int} or a
 * {@code float}, a pair in a {@code long} or a {@code double}. The same register takes several forms in turn, since
 * programs reuse registers for other types.
 *
 * <p>The backward pass finds the words used later and the kinds of these uses. The forward pass finds the forms
 * arriving from each predecessor. When predecessors disagree, the later use decides, and predecessors with another form
 * convert on the edge.
 */
final class RegisterPlan {
    private static final int MAX_CELLS = 4_000_000;

    /** Per block and word, the set of kinds used from the block's start on; 0 when unused. */
    final byte[][] liveIn;

    /** Per reachable block, the forms at the start of the block. */
    final @Nullable WordState[] entry;

    final FunctionGraph graph;

    /** The planned part; null for the whole function. */
    final @Nullable Part part;

    private final boolean[][] forced;
    private final boolean[] zero;

    private RegisterPlan(FunctionGraph graph, byte[][] liveIn, @Nullable Part part) {
        this.graph = graph;
        this.liveIn = liveIn;
        this.part = part;
        entry = new WordState[liveIn.length];
        forced = new boolean[liveIn.length][0];
        zero = new boolean[graph.words];
    }

    /** Plans a method for a whole function. */
    static RegisterPlan of(FunctionGraph graph) {
        RegisterPlan plan = usesOf(graph);
        plan.findForms();
        return plan;
    }

    /** Determines the uses only, as input for plans of parts. */
    static RegisterPlan usesOf(FunctionGraph graph) {
        int blocks = graph.blocks.size();
        if ((long) blocks * graph.words > MAX_CELLS) {
            throw new NotCompiledException("%d blocks with %d registers".formatted(blocks, graph.words));
        }
        RegisterPlan plan = new RegisterPlan(graph, new byte[blocks][graph.words], null);
        plan.findUses();
        return plan;
    }

    /** Plans a method for a part of the same function. */
    RegisterPlan forPart(Part wanted) {
        RegisterPlan plan = new RegisterPlan(graph, liveIn, wanted);
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        for (int block : wanted.entries) {
            plan.join(block, plan.filled(block), pending);
        }
        plan.propagate(pending);
        return plan;
    }

    /** Returns the forms for loading registers from the frame on entry to a part. */
    WordState filled(int block) {
        WordState state = new WordState(graph.words);
        for (int pair = 0; pair < graph.words / 2; pair++) {
            settle(state, pair, isLive(block, 2 * pair), isLive(block, 2 * pair + 1), liveIn[block]);
        }
        return state;
    }

    /** Returns whether a register is used from a block on and belongs to the method. */
    private boolean isLive(int block, int word) {
        return liveIn[block][word] != 0 && (part == null || part.pairs[word >> 1]);
    }

    private void findUses() {
        int blocks = graph.blocks.size();
        int[][] predecessors = graph.predecessors();
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        boolean[] queued = new boolean[blocks];
        for (int b = blocks - 1; b >= 0; b--) {
            pending.add(b);
            queued[b] = true;
        }
        while (!pending.isEmpty()) {
            int b = pending.remove();
            queued[b] = false;
            byte[] live = scan(graph.blocks.get(b), false);
            if (!Arrays.equals(live, liveIn[b])) {
                liveIn[b] = live;
                for (int p : predecessors[b]) {
                    if (!queued[p]) {
                        queued[p] = true;
                        pending.add(p);
                    }
                }
            }
        }
        for (Block block : graph.blocks) {
            scan(block, true);
        }
    }

    /** Scans a block backwards; with {@code note}, also records the other words of pairs that stay live across results. */
    private byte[] scan(Block block, boolean note) {
        byte[] live = new byte[graph.words];
        for (Edge edge : block.last().edges) {
            byte[] through = liveIn[edge.target()].clone();
            List<Move> moves = edge.moves();
            for (int i = moves.size() - 1; i >= 0; i--) {
                move(moves.get(i), through, note);
            }
            for (int w = 0; w < live.length; w++) {
                live[w] |= through[w];
            }
        }
        List<Node> nodes = block.nodes();
        for (int i = nodes.size() - 1; i >= 0; i--) {
            Node node = nodes.get(i);
            for (int k = node.defs.length - 1; k >= 0; k--) {
                if (node.defKinds[k] == R) {
                    continue;
                }
                int w = node.defs[k];
                live[w] = 0;
                if (isWide(node.defKinds[k])) {
                    live[w + 1] = 0;
                } else if (note) {
                    node.keepsOther[k] = live[w ^ 1] != 0;
                }
            }
            if (note && (node.site != null || node.op == Op.YIELD)) {
                node.liveAfter = live.clone();
            }
            for (int k = 0; k < node.uses.length; k++) {
                byte kind = node.useKinds[k];
                if (kind != R) {
                    live[node.uses[k]] |= kind;
                    if (isWide(kind)) {
                        live[node.uses[k] + 1] |= kind;
                    }
                }
            }
        }
        return live;
    }

    private static void move(Move move, byte[] live, boolean note) {
        if (move.ref) {
            return;
        }
        byte low = live[move.to];
        live[move.to] = 0;
        if (move.wide) {
            byte high = live[move.to + 1];
            live[move.to + 1] = 0;
            live[move.from] |= low;
            live[move.from + 1] |= high;
            return;
        }
        if (note) {
            move.keepsOther = live[move.to ^ 1] != 0;
        }
        // One half of a pair, copied alone.
        live[move.from] |= (byte) ((low & (L | D)) != 0 ? low & (I | F) | I : low);
    }

    private void findForms() {
        WordState start = new WordState(graph.words);
        String letters = graph.code.convention.arguments();
        int word = 0;
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            if (kind != R) {
                start.set(kind, graph.code.argumentWords[word], true);
                word += isWide(kind) ? 2 : 1;
            }
        }
        for (int w = 0; w < graph.words; w++) {
            if (liveIn[0][w] != 0 && !start.has(w)) {
                start.set(I, w, true);
                zero[w] = true;
            }
        }
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        join(0, start, pending);
        propagate(pending);
    }

    private void propagate(ArrayDeque<Integer> pending) {
        while (!pending.isEmpty()) {
            int b = pending.remove();
            Block block = graph.blocks.get(b);
            WordState state = new WordState(entry(b));
            for (Node node : block.nodes()) {
                apply(node, state);
            }
            if (block.last().op == Op.YIELD) {
                continue; // continues in the interpreter
            }
            for (Edge edge : block.last().edges) {
                if (part != null && !part.members[edge.target()]) {
                    continue;
                }
                WordState out = new WordState(state);
                edge.moves().forEach(out::apply);
                join(edge.target(), out, pending);
            }
        }
    }

    boolean isReachable(int block) {
        return entry[block] != null;
    }

    /** Returns whether a register may be read before it is written: the initial value is zero. */
    boolean isZeroAtStart(int word) {
        return zero[word];
    }

    WordState entry(int block) {
        WordState state = entry[block];
        if (state == null) {
            throw new IllegalStateException("block " + block + " is not reachable");
        }
        return state;
    }

    static void apply(Node node, WordState state) {
        for (int k = 0; k < node.defs.length; k++) {
            if (node.defKinds[k] != R) {
                state.set(node.defKinds[k], node.defs[k], node.keepsOther[k]);
            }
        }
    }

    /** Intersects the forms at a block's start with the forms of a predecessor, or settles on a single form. */
    private void join(int block, WordState from, ArrayDeque<Integer> pending) {
        byte[] live = liveIn[block];
        boolean[] isForced = forced[block];
        if (isForced.length == 0) {
            isForced = new boolean[graph.words / 2];
            forced[block] = isForced;
        }
        WordState known = entry[block];
        WordState result = known == null ? new WordState(from) : new WordState(known);
        for (int pair = 0; pair < graph.words / 2; pair++) {
            int w = 2 * pair;
            if (isForced[pair]) {
                continue;
            }
            boolean low = isLive(block, w);
            boolean high = isLive(block, w + 1);
            result.pairs[pair] &= from.pairs[pair];
            result.words[w] &= from.words[w];
            result.words[w + 1] &= from.words[w + 1];
            if (!low && !high) {
                result.pairs[pair] = 0;
            }
            if (!low) {
                result.words[w] = 0;
            }
            if (!high) {
                result.words[w + 1] = 0;
            }
            if (result.pairs[pair] != 0 || (!low || result.words[w] != 0) && (!high || result.words[w + 1] != 0)) {
                continue;
            }
            isForced[pair] = true;
            settle(result, pair, low, high, live);
        }
        if (known == null || !result.equals(known)) {
            entry[block] = result;
            pending.add(block);
        }
    }

    /** Chooses the forms of two words by the uses of the words. */
    private static void settle(WordState state, int pair, boolean low, boolean high, byte[] live) {
        int w = 2 * pair;
        int wanted = (live[w] | live[w + 1]) & (L | D);
        state.pairs[pair] = low && high ? (byte) ((wanted & L) != 0 ? L : wanted) : 0;
        state.words[w] = formOf(low && state.pairs[pair] == 0, live[w]);
        state.words[w + 1] = formOf(high && state.pairs[pair] == 0, live[w + 1]);
    }

    private static byte formOf(boolean wanted, byte uses) {
        return !wanted ? 0 : (uses & (I | L | D)) == 0 ? F : I;
    }

    static boolean isWide(byte kind) {
        return kind == L || kind == D;
    }
}
