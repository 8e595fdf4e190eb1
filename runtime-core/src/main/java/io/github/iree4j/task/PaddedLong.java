package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A contended word, alone in its cache lines. */
@SuppressWarnings("unused") // the fields are padding
final class PaddedLong extends PaddedLongWord {
    long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, ba, bb, bc, bd, be, bf;
}

@SuppressWarnings("unused")
abstract class PaddedLongRoom {
    long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aa, ab, ac, ad, ae, af;
}

@SuppressWarnings("unused")
abstract class PaddedLongWord extends PaddedLongRoom {
    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(PaddedLongWord.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long value;

    final long getVolatile() {
        return (long) VALUE.getVolatile(this);
    }

    final long getOpaque() {
        return (long) VALUE.getOpaque(this);
    }

    final void setVolatile(long next) {
        VALUE.setVolatile(this, next);
    }

    final long getAndAddVolatile(long delta) {
        return (long) VALUE.getAndAdd(this, delta);
    }

    final long getAndOrVolatile(long bits) {
        return (long) VALUE.getAndBitwiseOr(this, bits);
    }

    final long getAndAndVolatile(long bits) {
        return (long) VALUE.getAndBitwiseAnd(this, bits);
    }

    final boolean compareAndSetVolatile(long seen, long next) {
        return VALUE.compareAndSet(this, seen, next);
    }
}
