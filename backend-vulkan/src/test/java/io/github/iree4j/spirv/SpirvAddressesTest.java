package io.github.iree4j.spirv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Code with addresses, as emitted by compilers and otherwise. Types and constants are below 50, values from 100 on. */
class SpirvAddressesTest {
    private static final int U32 = 1;
    private static final int U64 = 2;
    private static final int TO_U32 = 3; // pointers by address
    private static final int TABLE = 4; // a struct of three
    private static final int TO_TABLE = 5;
    private static final int TO_ADDRESS = 6;
    private static final int TO_PUSHED = 7;
    private static final int ZERO = 20; // constants; the next are 1, 2, and so on
    private static final int THIRTY_TWO = 30;
    private static final int PUSHED = 40;
    private static final int FLOAT_ADD = 129;
    private static final int ATOMIC_ADD = 234;
    private static final int RETURN = 253;

    private final List<Integer> words = new ArrayList<>();
    private final SpirvTypes types = new SpirvTypes(new int[0]);
    private final SpirvAddresses addresses = new SpirvAddresses(words::get, types);
    private int next = 100;

    @BeforeEach
    void declare() {
        types.define(SpirvOp.TYPE_INT, 0, new int[] {U32, 32, 0});
        types.define(SpirvOp.TYPE_INT, 0, new int[] {U64, 64, 0});
        pointer(TO_U32, SpirvOp.STORAGE_PHYSICAL, U32);
        for (int member = 0; member < 3; member++) {
            types.decorateMember(TABLE, member, SpirvOp.DECORATION_OFFSET, 8 * member);
        }
        types.define(SpirvOp.TYPE_STRUCT, 0, new int[] {TABLE, TO_U32, TO_U32, TO_U32});
        pointer(TO_TABLE, SpirvOp.STORAGE_PHYSICAL, TABLE);
        pointer(TO_ADDRESS, SpirvOp.STORAGE_PHYSICAL, TO_U32);
        pointer(TO_PUSHED, SpirvOp.STORAGE_PUSH_CONSTANT, U32);
        for (int i = 0; i < 4; i++) {
            types.define(SpirvOp.CONSTANT, 0, new int[] {U32, ZERO + i, i});
        }
        types.define(SpirvOp.CONSTANT, 0, new int[] {U64, THIRTY_TWO, 32, 0});
        addresses.definePushed(PUSHED);
    }

    private void pointer(int type, int storage, int pointee) {
        types.define(SpirvOp.TYPE_POINTER, 0, new int[] {type, storage, pointee});
        addresses.definePointer(type, storage);
    }

    private void add(int op, int... operands) {
        int at = words.size();
        words.add(operands.length + 1 << 16 | op);
        for (int operand : operands) {
            words.add(operand);
        }
        addresses.add(op, at, operands.length + 1);
    }

    /** Adds a value of a type, computed from others. */
    private int value(int op, int type, int... operands) {
        int[] all = new int[operands.length + 2];
        all[0] = type;
        all[1] = next;
        System.arraycopy(operands, 0, all, 2, operands.length);
        add(op, all);
        return next++;
    }

    private int pushed(int member) {
        return value(SpirvOp.LOAD, U32, value(SpirvOp.ACCESS_CHAIN, TO_PUSHED, PUSHED, ZERO, ZERO + member));
    }

    /** The address of the table, as a number. */
    private int root() {
        int low = value(SpirvOp.U_CONVERT, U64, pushed(0));
        int high = value(SpirvOp.U_CONVERT, U64, pushed(1));
        return value(SpirvOp.BITWISE_OR, U64, low, value(SpirvOp.SHIFT_LEFT_LOGICAL, U64, high, THIRTY_TWO));
    }

    /** The address of a buffer, as a number. */
    private int address(int table, int slot) {
        int pointer = value(SpirvOp.CONVERT_U_TO_PTR, TO_TABLE, table);
        int place = value(SpirvOp.ACCESS_CHAIN, TO_ADDRESS, pointer, ZERO + slot);
        return value(SpirvOp.CONVERT_PTR_TO_U, U64, value(SpirvOp.LOAD, TO_U32, place));
    }

    private int pointer(int address) {
        return value(SpirvOp.CONVERT_U_TO_PTR, TO_U32, address);
    }

    @Test
    void valuesStoredThroughASlotAreStoredThere() {
        int from = pointer(address(root(), 0));
        int to = value(SpirvOp.ACCESS_CHAIN, TO_U32, pointer(address(root(), 2)), pushed(3));
        int loaded = value(SpirvOp.LOAD, U32, from);
        add(SpirvOp.STORE, to, value(FLOAT_ADD, U32, loaded, loaded));
        add(RETURN);
        assertThat(addresses.written()).isEqualTo(0b100);
    }

    @Test
    void addressesComputedFromAnAddressBelongToItsBuffer() {
        int moved = value(SpirvOp.I_ADD, U64, address(root(), 1), value(SpirvOp.U_CONVERT, U64, pushed(2)));
        int either = value(SpirvOp.SELECT, U64, 50, moved, address(root(), 0));
        add(SpirvOp.STORE, pointer(either), pushed(2));
        assertThat(addresses.written()).isEqualTo(0b011);
    }

    @Test
    void atomicsAndCallsMayStore() {
        value(ATOMIC_ADD, U32, pointer(address(root(), 1)), ZERO, ZERO, ZERO);
        assertThat(addresses.written()).isEqualTo(0b010);
        value(SpirvOp.FUNCTION_CALL, U32, 90, pointer(address(root(), 2)));
        assertThat(addresses.written()).isEqualTo(0b110);
    }

    @Test
    void aNumberOfUnknownOriginMayPointAnywhere() {
        int loaded = value(SpirvOp.LOAD, U64, pointer(address(root(), 0)));
        assertThat(addresses.written()).isZero();
        add(SpirvOp.STORE, pointer(loaded), pushed(2));
        assertThat(addresses.written()).isEqualTo(SpirvAddresses.ALL);
    }

    @Test
    void aParameterMayPointAnywhere() {
        int parameter = value(SpirvOp.FUNCTION_PARAMETER, TO_U32);
        assertThat(addresses.written()).isZero();
        add(SpirvOp.STORE, parameter, pushed(2));
        assertThat(addresses.written()).isEqualTo(SpirvAddresses.ALL);
    }

    @Test
    void anInconstantSlotOrASlotOfAMovedTableMayBeAny() {
        int pointer = value(SpirvOp.CONVERT_U_TO_PTR, TO_TABLE, root());
        int place = value(SpirvOp.ACCESS_CHAIN, TO_ADDRESS, pointer, pushed(2));
        int any = value(SpirvOp.LOAD, TO_U32, place);
        value(SpirvOp.LOAD, U32, any);
        assertThat(addresses.written()).isZero();
        add(SpirvOp.STORE, any, pushed(2));
        assertThat(addresses.written()).isEqualTo(SpirvAddresses.ALL);
    }

    @Test
    void slotsOfAMovedTableAreNotCountedFromItsBegin() {
        int moved = value(SpirvOp.I_ADD, U64, root(), ZERO + 3);
        add(SpirvOp.STORE, pointer(address(moved, 0)), pushed(2));
        assertThat(addresses.written()).isEqualTo(SpirvAddresses.ALL);
    }

    @Test
    void aTableStoredToMayHoldAnything() {
        int pointer = value(SpirvOp.CONVERT_U_TO_PTR, TO_TABLE, root());
        add(SpirvOp.STORE, value(SpirvOp.ACCESS_CHAIN, TO_ADDRESS, pointer, ZERO), pointer(address(root(), 1)));
        assertThat(addresses.written()).isEqualTo(SpirvAddresses.ALL);
    }

    @Test
    void pointersJoinedByALoopMayBeWrittenAlsoBehindTheJoin() {
        int later = next + 40;
        int first = pointer(address(root(), 0));
        int joined = value(SpirvOp.PHI, TO_U32, first, 70, later, 71);
        value(SpirvOp.LOAD, U32, joined);
        assertThat(addresses.written()).isZero();
        int second = pointer(address(root(), 1));
        while (next < later) {
            value(FLOAT_ADD, U32, 50, 50);
        }
        assertThat(value(SpirvOp.ACCESS_CHAIN, TO_U32, second, ZERO)).isEqualTo(later);
        assertThat(addresses.written()).isEqualTo(0b010);
    }

    @Test
    void literalsAreTakenForNoPointer() {
        int from = pointer(address(root(), 0));
        value(SpirvOp.EXT_INST, U32, 90, from, pushed(2));
        value(SpirvOp.COMPOSITE_EXTRACT, U32, pushed(2), from);
        add(SpirvOp.LINE, 90, from, from);
        assertThat(addresses.written()).isZero();
    }
}
