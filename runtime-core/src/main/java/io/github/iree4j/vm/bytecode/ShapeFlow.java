package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.bytecode.ShapeValue.Argument;
import io.github.iree4j.vm.bytecode.ShapeValue.Constant;
import io.github.iree4j.vm.bytecode.ShapeValue.Dimension;
import io.github.iree4j.vm.bytecode.ShapeValue.View;
import io.github.iree4j.vm.isa.Op;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Determines facts about a function's arguments and results on every return, by data flow over registers: constants,
 * arguments, dimensions of arguments, and views created from these. Where paths meet, only facts common to all paths
 * are kept. Values passing through memory (globals, lists, buffers) are not followed.
 */
final class ShapeFlow {
    /** Most registers of analysis state; functions needing more are skipped. */
    private static final long MAX_STATE = 2_000_000;

    /** Operands of the import checking a view: view, message, element type, encoding, dimensions. */
    private static final int CHECKED_TYPE = 2;

    private static final int CHECKED_SHAPE = 4;

    /** Operands of the import creating a view: buffer, offset, length, element type, encoding, dimensions. */
    private static final int CREATED_TYPE = 3;

    private static final int CREATED_SHAPE = 5;

    private final FunctionGraph graph;
    private final ShapeRecovery recovery;
    private final String letters;
    private final int size; // of a state, in cells
    private final @Nullable State[] entry;
    private long left;
    private @Nullable ShapeSummary atReturn;

    /** The facts known at a program point: about each word, about each reference, and about each argument by the checks passed. */
    private final class State {
        final @Nullable ShapeValue[] cells;

        State(@Nullable ShapeValue[] cells) {
            this.cells = cells;
        }

        @Nullable
        ShapeValue read(int register, byte kind) {
            if (kind == FunctionGraph.R) {
                return cells[reference(register)];
            }
            ShapeValue value = cells[register];
            return value != null && value.isWide() == RegisterPlan.isWide(kind) ? value : null;
        }

        void write(int register, byte kind, @Nullable ShapeValue value) {
            if (kind == FunctionGraph.R) {
                cells[reference(register)] = value;
                return;
            }
            ShapeValue pair = cells[register & ~1];
            if (pair != null && pair.isWide()) {
                cells[register & ~1] = null;
            }
            if (RegisterPlan.isWide(kind)) {
                cells[register + 1] = null;
            }
            cells[register] = value;
        }

        void forgetMoved(int register, byte kind) {
            if (kind == FunctionGraph.R && (register & Code.MOVE) != 0) {
                cells[reference(register)] = null;
            }
        }

        int reference(int register) {
            return graph.words + (register & ~Code.MOVE);
        }

        /** Records that an argument satisfies a view from here on. */
        void checked(@Nullable ShapeValue value, @Nullable View view) {
            if (value instanceof Argument argument && view != null) {
                int cell = graph.words + graph.refs + argument.index();
                cells[cell] = cells[cell] instanceof View known ? known.and(view) : view;
            }
        }

        @Nullable
        View[] checked() {
            @Nullable View[] views = new View[letters.length()];
            for (int i = 0; i < views.length; i++) {
                views[i] = cells[graph.words + graph.refs + i] instanceof View view ? view : null;
            }
            return views;
        }
    }

    /**
     * Prepares the analysis.
     *
     * @param recovery knows the imports, and the facts at returns of called functions
     * @param left the work limit, in registers visited
     */
    ShapeFlow(FunctionGraph graph, ShapeRecovery recovery, long left) {
        this.graph = graph;
        this.recovery = recovery;
        this.left = left;
        this.letters = graph.code.convention.arguments();
        this.size = graph.words + graph.refs + letters.length();
        this.entry = new State[graph.blocks.size()];
    }

    /** Returns the remaining work for other functions. */
    long left() {
        return left;
    }

    /** Returns the facts common to all returns of the function; null when unknown, or when the function never returns. */
    @Nullable
    ShapeSummary summary() {
        if ((long) graph.blocks.size() * size > MAX_STATE) {
            return null;
        }
        ArrayDeque<Integer> pending = new ArrayDeque<>();
        BitSet queued = new BitSet(graph.blocks.size());
        entry[0] = atStart();
        pending.add(0);
        while (!pending.isEmpty()) {
            int index = pending.remove();
            queued.clear(index);
            State known = entry[index];
            if (known == null || !pass(graph.blocks.get(index), new State(known.cells.clone()), queued, pending)) {
                return null;
            }
        }
        return atReturn;
    }

    private State atStart() {
        State state = new State(new ShapeValue[size]);
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            boolean wide = RegisterPlan.isWide(kind);
            int register = kind == FunctionGraph.R ? ref++ : graph.code.argumentWords[word];
            word += kind == FunctionGraph.R ? 0 : wide ? 2 : 1;
            state.write(register, kind, new Argument(i, wide));
        }
        return state;
    }

    /** Analyses a block and queues the successors; returns false at the end of the work limit. */
    private boolean pass(Block block, State state, BitSet queued, ArrayDeque<Integer> pending) {
        left -= size;
        for (Node node : block.nodes()) {
            left -= 1L + node.uses.length + node.defs.length;
            if (left <= 0) {
                return false;
            }
            apply(node, state);
        }
        for (Edge edge : block.last().edges) {
            left -= 2L * size + edge.moves().size();
            if (left <= 0) {
                return false;
            }
            State out = new State(state.cells.clone());
            edge.moves().forEach(move -> apply(move, out));
            if (join(edge.target(), out) && !queued.get(edge.target())) {
                queued.set(edge.target());
                pending.add(edge.target());
            }
        }
        return left > 0;
    }

    /** Intersects the facts at a block's start with the facts on this edge; returns whether fewer facts remain than before. */
    private boolean join(int block, State state) {
        State known = entry[block];
        if (known == null) {
            entry[block] = state;
            return true;
        }
        boolean changed = false;
        for (int i = 0; i < size; i++) {
            ShapeValue before = known.cells[i];
            if (before != null && !before.equals(state.cells[i])) {
                left -= before instanceof View view ? view.rank() : 0;
                known.cells[i] = ShapeValue.either(before, state.cells[i]);
                changed |= !before.equals(known.cells[i]);
            }
        }
        return changed;
    }

    private static void apply(Move move, State state) {
        if (move.ref) {
            ShapeValue value = state.read(move.from, FunctionGraph.R);
            if ((move.from & ~Code.MOVE) != move.to) {
                state.forgetMoved(move.from, FunctionGraph.R);
            }
            state.write(move.to, FunctionGraph.R, value);
        } else if (move.wide) { // or two words side by side
            ShapeValue first = state.cells[move.from];
            ShapeValue second = state.cells[move.from + 1];
            state.cells[move.to] = first;
            state.cells[move.to + 1] = second;
        } else {
            state.write(move.to, FunctionGraph.I, state.read(move.from, FunctionGraph.I));
        }
    }

    private void apply(Node node, State state) {
        @Nullable ShapeValue[] operands = new ShapeValue[node.uses.length];
        for (int i = 0; i < operands.length; i++) {
            operands[i] = state.read(node.uses[i], node.useKinds[i]);
        }
        for (int i = 0; i < operands.length; i++) {
            state.forgetMoved(node.uses[i], node.useKinds[i]);
        }
        @Nullable ShapeValue[] results = new ShapeValue[node.defs.length];
        if (node.site != null) {
            call(node.site, operands, results, state);
        } else if (node.op == Op.RETURN) {
            ShapeSummary here = new ShapeSummary(state.checked(), operands);
            left -= here.cost();
            atReturn = atReturn == null ? here : atReturn.or(here);
        } else if (results.length == 1) {
            results[0] = result(node, operands);
        }
        for (int i = 0; i < results.length; i++) {
            state.write(node.defs[i], node.defKinds[i], results[i]);
        }
    }

    private static @Nullable ShapeValue result(Node node, @Nullable ShapeValue[] operands) {
        return switch (node.op) {
            case Op.CONST_I32, Op.CONST_I32_ZERO -> new Constant(node.literal, false);
            case Op.CONST_I64, Op.CONST_I64_ZERO -> new Constant(node.literal, true);
            case Op.ASSIGN_REF, Op.CAST_ANY_REF -> operands[0];
            case Op.SELECT_I32, Op.SELECT_I64, Op.SELECT_REF -> ShapeValue.either(operands[1], operands[2]);
            case Op.EXT_I32_I64_S -> operands[0] instanceof Constant known ? new Constant(known.value(), true) : null;
            default -> null;
        };
    }

    private void call(CallSite site, @Nullable ShapeValue[] operands, @Nullable ShapeValue[] results, State state) {
        if (!site.isImport) {
            ShapeSummary callee = recovery.known(site.callee);
            if (callee != null) {
                left -= callee.cost();
                callee.applyTo(operands, state::checked, results);
            }
            return;
        }
        switch (recovery.role(site.callee)) {
            case CHECK -> state.checked(operands[0], view(operands, CHECKED_TYPE, CHECKED_SHAPE));
            case CREATE -> results[0] = view(operands, CREATED_TYPE, CREATED_SHAPE);
            case DIMENSION -> results[0] = dimension(operands[0], operands[1]);
            case OTHER -> {}
        }
    }

    private static @Nullable View view(@Nullable ShapeValue[] operands, int type, int shape) {
        int rank = operands.length - shape;
        return operands[type] instanceof Constant known && rank <= View.MAX_RANK
                ? new View((int) known.value(), Arrays.copyOfRange(operands, shape, operands.length))
                : null;
    }

    static @Nullable ShapeValue dimension(@Nullable ShapeValue view, @Nullable ShapeValue index) {
        if (!(index instanceof Constant known) || known.value() < 0 || known.value() >= View.MAX_RANK) {
            return null;
        }
        int at = (int) known.value();
        return switch (view) {
            case Argument argument -> new Dimension(argument.index(), at);
            case View created -> at < created.rank() ? created.dimension(at) : null;
            case null, default -> null;
        };
    }
}
