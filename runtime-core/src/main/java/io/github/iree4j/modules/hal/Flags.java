package io.github.iree4j.modules.hal;

import io.github.iree4j.vm.VmCall;

/** The forms in which compilers of different releases pass flags. */
enum Flags {
    /** No flags. */
    NONE {
        @Override
        long read(VmCall call, long known) {
            return 0;
        }
    },
    /** 32 bits, none of which has a meaning that the 64 bits have now: {@code known} is 0. */
    I32 {
        @Override
        long read(VmCall call, long known) {
            return Arguments.bits("flags", Integer.toUnsignedLong(call.i32()), known);
        }
    },
    /** 64 bits. */
    I64 {
        @Override
        long read(VmCall call, long known) {
            return Arguments.bits("flags", call.i64(), known);
        }
    };

    /** Reads the next argument, if there is one; fails for unknown bits. */
    abstract long read(VmCall call, long known);
}
