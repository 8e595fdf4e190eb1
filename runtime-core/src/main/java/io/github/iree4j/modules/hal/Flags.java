package io.github.iree4j.modules.hal;

import io.github.iree4j.vm.VmCall;

/** The forms of flags passed by compilers of different releases. */
enum Flags {
    /** No flags. */
    NONE {
        @Override
        long read(VmCall call, long known) {
            return 0;
        }
    },
    /** 32 bits, none with a meaning of the present 64 bits: {@code known} is 0. */
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

    /** Reads the next argument, if the form has an argument; fails for unknown bits. */
    abstract long read(VmCall call, long known);
}
