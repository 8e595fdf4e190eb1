package io.github.iree4j.spirv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Instructions as in a module, over two variables; other identifiers are from 100 on. */
class SpirvWritesTest {
    private static final int A = 7;
    private static final int B = 8;
    private static final int TYPE = 1;
    private static final int BITCAST = 124;
    private static final int ATOMIC_ADD_OF_AN_EXTENSION = 6035;

    private final List<Integer> words = new ArrayList<>();
    private final SpirvWrites writes = new SpirvWrites(words::get);

    @BeforeEach
    void define() {
        writes.define(A);
        writes.define(B);
    }

    private void add(int op, int... operands) {
        int at = words.size();
        words.add(operands.length + 1 << 16 | op);
        for (int operand : operands) {
            words.add(operand);
        }
        writes.add(op, at, operands.length + 1);
    }

    private void assertWritten(boolean a, boolean b) {
        assertThat(List.of(writes.contains(A), writes.contains(B))).containsExactly(a, b);
    }

    @Test
    void onlyLoadedBuffersAreNotWritten() {
        add(SpirvOp.ACCESS_CHAIN, TYPE, 100, A, 50, 51);
        add(SpirvOp.LOAD, TYPE, 101, 100);
        add(SpirvOp.ARRAY_LENGTH, TYPE, 102, B, 0);
        add(SpirvOp.ATOMIC_LOAD, TYPE, 103, 100, 60, 61);
        assertWritten(false, false);
    }

    @Test
    void aStoreThroughTwoAccessChainsIsAStoreToTheirVariable() {
        add(SpirvOp.ACCESS_CHAIN, TYPE, 100, A, 50);
        add(SpirvOp.IN_BOUNDS_ACCESS_CHAIN, TYPE, 101, 100, 51);
        add(SpirvOp.ACCESS_CHAIN, TYPE, 102, B, 50);
        add(SpirvOp.LOAD, TYPE, 103, 102);
        add(SpirvOp.STORE, 101, 103);
        assertWritten(true, false);
    }

    @Test
    void pointersPassedToAFunctionOrCastMayBeWritten() {
        add(SpirvOp.FUNCTION_CALL, TYPE, 100, 90, A);
        assertWritten(true, false);
        add(BITCAST, TYPE, 101, B);
        assertWritten(true, true);
    }

    @Test
    void atomicsWrite() {
        add(SpirvOp.ATOMIC_XOR, TYPE, 100, A, 60, 61, 62);
        assertWritten(true, false);
        add(ATOMIC_ADD_OF_AN_EXTENSION, TYPE, 101, B, 60, 61, 62);
        assertWritten(true, true);
    }

    @Test
    void selectedOrJoinedPointersMayBeWrittenAlsoBehindTheJoin() {
        add(SpirvOp.SELECT, TYPE, 100, 50, A, 51);
        assertWritten(true, false);
        add(SpirvOp.PHI, TYPE, 101, 70, 71, 110, 72);
        add(SpirvOp.PTR_ACCESS_CHAIN, TYPE, 110, B, 52); // in the loop begun by the join
        assertWritten(true, true);
    }

    @Test
    void literalsAreTakenForNoVariable() {
        add(SpirvOp.LINE, 90, A, B);
        add(SpirvOp.COMPOSITE_EXTRACT, TYPE, 100, 101, A, B);
        add(SpirvOp.VECTOR_SHUFFLE, TYPE, 100, 101, 102, A, B);
        add(SpirvOp.COMPOSITE_INSERT, TYPE, 100, 101, 102, A);
        add(SpirvOp.EXT_INST, TYPE, 100, 90, A, 102);
        add(SpirvOp.LOOP_MERGE, 80, 81, B);
        assertWritten(false, false);
    }
}
