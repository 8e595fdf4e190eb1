package io.github.iree4j.modules.vmvx;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;

/**
 * Matrix multiplication over tiled operands, and the functions tiling and untiling operands.
 *
 * <p>A tiled matrix is [outer0][outer1][tile0][tile1] with the inner three dimensions contiguous; only the outermost
 * has a stride. Flag values are defined in {@code iree/builtins/ukernel/exported_bits.h}.
 */
final class Microkernels {
    private static final int ROLE_MASK = 0xFF;
    private static final int ROLE_LHS = 1;
    private static final int ROLE_RHS = 2;
    private static final int ROLE_RESULT = 3;

    // The tile size of IREE's generic kernels, for all types.
    private static final int TILE_M = 8;
    private static final int TILE_N = 8;
    private static final int TILE_K = 4;

    private Microkernels() {}

    static void register(NativeModule.Builder<VmvxModule.State> module) {
        module.function("mmt4d", "0rIIrIIrIIIIIiiii_v", (state, call) -> MatrixProduct.run(state.scratch, call));
        module.function("pack", "0rIIIrIIIIIIIIIIi_v", (state, call) -> Packing.pack(call));
        module.function("unpack", "0rIIIrIIIIIIIIIi_v", (state, call) -> Packing.unpack(call));
        module.function("pack", "0rIIrIIIIIIIIIi_v", (state, call) -> Packing.packContiguous(call));
        module.function("unpack", "0rIIrIIIIIIIIi_v", (state, call) -> Packing.unpackContiguous(call));
        module.function("query_tile_sizes.2d", "0IIi_II", (state, call) -> queryTileSizes(call));
    }

    private static void queryTileSizes(VmCall call) {
        call.i64();
        call.i64();
        int flags = call.i32();
        int operation = (flags >>> 8) & 0xFF;
        int role = flags & ROLE_MASK;
        if (operation < 1 || operation > 6 || role < ROLE_LHS || role > ROLE_RESULT) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "flags %08X: operation must be 1 to 6 and the operand's role 1 to 3".formatted(flags));
        }
        call.returnI64(role == ROLE_RHS ? TILE_N : TILE_M);
        call.returnI64(role == ROLE_RESULT ? TILE_N : TILE_K);
    }

    static long size(long value, String name) {
        if (value < 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "'%s' is %d, must not be negative".formatted(name, value));
        }
        return value;
    }

    static long product(long a, long b, long c) {
        try {
            return Math.multiplyExact(a, Math.multiplyExact(b, c));
        } catch (ArithmeticException e) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE, "%d x %d x %d elements are more than any buffer has".formatted(a, b, c));
        }
    }
}
