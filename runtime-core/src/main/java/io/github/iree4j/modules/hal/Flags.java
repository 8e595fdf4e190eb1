package io.github.iree4j.modules.hal;

import io.github.iree4j.vm.VmCall;

/** In which form the compilers of a time passed flags. */
enum Flags {
    /** Not at all. */
    NONE {
        @Override
        long read(VmCall call, long known) {
            return 0;
        }
    },
    /** In 32 bits, of which none had a meaning that the 64 have now: {@code known} is 0. */
    I32 {
        @Override
        long read(VmCall call, long known) {
            return Arguments.bits("flags", Integer.toUnsignedLong(call.i32()), known);
        }
    },
    /** In 64 bits. */
    I64 {
        @Override
        long read(VmCall call, long known) {
            return Arguments.bits("flags", call.i64(), known);
        }
    };

    /** Reads the next argument, if it is there; fails for bits that are not known. */
    abstract long read(VmCall call, long known);
}
