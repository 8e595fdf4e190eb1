package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.util.ArrayDeque;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Determines whether a function may use an object after passing the object to a consuming import, by data flow over
 * registers: the registers that may hold the same object, and the registers that may hold a consumed object. References
 * through globals, lists and other functions are not followed. Passing on or returning a consumed object is a use.
 */
final class LaterUses {
    /** Most words of analysis state; functions needing more are skipped. */
    private static final long MAX_STATE = 2_000_000;

    /** Approximate work limit for a module, in words visited; beyond the limit nothing is found. */
    static final long MAX_WORK = 20_000_000;

    private static final int WORDS_OF_SET = 8; // in addition to the bits

    private final FunctionGraph graph;
    private final boolean[] releases; // per import
    private final boolean[] views; // per import
    private final int argument;
    private final @Nullable State[] entry;
    private final long row; // words of a set of registers
    private long left; // remaining work

    /** The possible state at a program point. */
    private static final class State {
        final BitSet[] same; // per register, the other registers that may hold the same object
        final BitSet gone; // registers that may hold a consumed object

        State(int refs) {
            same = new BitSet[refs];
            for (int i = 0; i < refs; i++) {
                same[i] = new BitSet(0);
            }
            gone = new BitSet(refs);
        }

        State(State other) {
            same = new BitSet[other.same.length];
            for (int i = 0; i < same.length; i++) {
                same[i] = (BitSet) other.same[i].clone();
            }
            gone = (BitSet) other.gone.clone();
        }

        /** Records that a register is written or emptied. */
        void forget(int register) {
            for (int other = same[register].nextSetBit(0); other >= 0; other = same[register].nextSetBit(other + 1)) {
                same[other].clear(register);
            }
            same[register].clear();
            gone.clear(register);
        }

        /** Records that a register's object may also be in another register. */
        void share(int from, int to) {
            if (from == to) {
                return;
            }
            BitSet others = (BitSet) same[from].clone();
            others.set(from);
            others.clear(to);
            for (int other = others.nextSetBit(0); other >= 0; other = others.nextSetBit(other + 1)) {
                same[other].set(to);
            }
            same[to].or(others);
            if (gone.get(from)) {
                gone.set(to);
            }
        }

        /** Records that a forgotten register may hold the objects of others. */
        void becomes(int register, BitSet others, boolean isGone) {
            for (int other = others.nextSetBit(0); other >= 0; other = others.nextSetBit(other + 1)) {
                same[other].set(register);
            }
            same[register].or(others);
            if (isGone) {
                gone.set(register);
            }
        }

        void take(int register) {
            gone.or(same[register]);
            gone.set(register);
        }

        /** Merges the state of another path; returns whether this state changes. */
        boolean join(State other) {
            boolean changed = add(gone, other.gone);
            for (int i = 0; i < same.length; i++) {
                changed |= add(same[i], other.same[i]);
            }
            return changed;
        }

        private static boolean add(BitSet to, BitSet from) {
            int before = to.cardinality();
            to.or(from);
            return to.cardinality() > before;
        }
    }

    /**
     * Prepares the analysis.
     *
     * @param releases per import, whether the import consumes an object
     * @param argument the index of the consumed argument among the references, from 0
     * @param views per import, whether the result is the first reference argument under another name
     * @param left the work limit
     */
    LaterUses(FunctionGraph graph, boolean[] releases, int argument, boolean[] views, long left) {
        this.graph = graph;
        this.releases = releases;
        this.argument = argument;
        this.views = views;
        this.entry = new State[graph.blocks.size()];
        this.row = (long) graph.refs / Long.SIZE + WORDS_OF_SET;
        this.left = left;
    }

    /** Returns the remaining work for other functions. */
    long left() {
        return left;
    }

    /** Returns whether a consumed object may be used. */
    boolean found() {
        int blocks = graph.blocks.size();
        long state = (graph.refs + 1L) * row;
        if (blocks * state > MAX_STATE) {
            return false;
        }
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        BitSet queued = new BitSet(blocks);
        entry[0] = new State(graph.refs);
        pending.add(0);
        while (left > 0 && !pending.isEmpty()) {
            int index = pending.remove();
            queued.clear(index);
            if (pass(graph.blocks.get(index), new State(entry(index)), state, queued, pending)) {
                return true;
            }
        }
        return false;
    }

    /** Analyses a block and queues the successors; returns whether the block uses a consumed object. */
    private boolean pass(Block block, State state, long words, BitSet queued, ArrayDeque<Integer> pending) {
        left -= words;
        for (Node node : block.nodes()) {
            left -= (1L + node.uses.length + node.defs.length) * row;
            if (left <= 0) {
                return false;
            }
            if (apply(node, state)) {
                return true;
            }
        }
        for (Edge edge : block.last().edges) {
            left -= words + edge.moves().size() * row;
            if (left <= 0) {
                return false;
            }
            State out = new State(state);
            edge.moves().forEach(move -> apply(move, out));
            if (join(edge.target(), out) && !queued.get(edge.target())) {
                queued.set(edge.target());
                pending.add(edge.target());
            }
        }
        return false;
    }

    private boolean join(int block, State state) {
        State known = entry[block];
        if (known == null) {
            entry[block] = state;
            return true;
        }
        return known.join(state);
    }

    private State entry(int block) {
        State state = entry[block];
        if (state == null) {
            throw new IllegalStateException("block " + block + " is not reachable");
        }
        return state;
    }

    private static void apply(Move move, State state) {
        if (!move.ref) {
            return;
        }
        int from = move.from & ~Code.MOVE;
        if (from != move.to) {
            state.forget(move.to);
            state.share(from, move.to);
            if ((move.from & Code.MOVE) != 0) {
                state.forget(from);
            }
        }
    }

    /** Applies an instruction; returns whether the instruction uses a consumed object. */
    private boolean apply(Node node, State state) {
        CallSite site = node.site;
        boolean release = site != null && site.isImport && releases[site.callee];
        boolean copies = site == null || site.isImport && views[site.callee];
        int refs = 0;
        for (int i = 0; i < node.uses.length; i++) {
            if (node.useKinds[i] != FunctionGraph.R) {
                continue;
            }
            int register = node.uses[i] & ~Code.MOVE;
            if (release && refs == argument) {
                state.take(register);
            } else if ((site != null || node.op == Op.RETURN) && state.gone.get(register)) {
                return true;
            }
            refs++;
        }
        int target = target(node);
        BitSet sources = new BitSet(0);
        boolean gone = target >= 0 && copies && addSources(node, state, sources, site != null);
        for (int i = 0; i < node.uses.length; i++) {
            if (node.useKinds[i] == FunctionGraph.R && (node.uses[i] & Code.MOVE) != 0) {
                state.forget(node.uses[i] & ~Code.MOVE);
                sources.clear(node.uses[i] & ~Code.MOVE);
            }
        }
        for (int i = 0; i < node.defs.length; i++) {
            if (node.defKinds[i] == FunctionGraph.R) {
                state.forget(node.defs[i] & ~Code.MOVE);
                sources.clear(node.defs[i] & ~Code.MOVE);
            }
        }
        if (target >= 0) {
            state.becomes(target, sources, gone);
        }
        return false;
    }

    /** Returns the register receiving a reference; negative when there is none. */
    private static int target(Node node) {
        for (int i = 0; i < node.defs.length; i++) {
            if (node.defKinds[i] == FunctionGraph.R) {
                return node.defs[i] & ~Code.MOVE;
            }
        }
        return -1;
    }

    /**
     * Adds the registers that may hold the references read by an instruction, or only the first reference; returns
     * whether a reference may be consumed. A reference read from a list counts as the list.
     */
    private static boolean addSources(Node node, State state, BitSet sources, boolean firstOnly) {
        boolean gone = false;
        for (int i = 0; i < node.uses.length; i++) {
            if (node.useKinds[i] != FunctionGraph.R) {
                continue;
            }
            int source = node.uses[i] & ~Code.MOVE;
            sources.or(state.same[source]);
            sources.set(source);
            gone |= state.gone.get(source);
            if (firstOnly) {
                break;
            }
        }
        return gone;
    }
}
