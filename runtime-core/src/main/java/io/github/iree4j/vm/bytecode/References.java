package io.github.iree4j.vm.bytecode;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmType;
import io.github.iree4j.vm.VmTypes;
import org.jspecify.annotations.Nullable;

/** Moves references between registers so that each holder of an object owns one reference to the object. */
final class References {
    private References() {}

    /** Reads a register, retaining the object, or emptying the register if the operand has the MOVE bit. */
    static @Nullable Object take(@Nullable Object[] refs, int operand) {
        int index = operand & ~Code.MOVE;
        Object object = refs[index];
        if ((operand & Code.MOVE) != 0) {
            refs[index] = null;
        } else if (object instanceof RefCounted counted) {
            counted.retain();
        }
        return object;
    }

    /** Reads a register without taking ownership. */
    static @Nullable Object peek(@Nullable Object[] refs, int operand) {
        return refs[operand & ~Code.MOVE];
    }

    /** Writes an owned object to a register and releases the previous object. */
    static void put(@Nullable Object[] refs, int index, @Nullable Object owned) {
        Object old = refs[index];
        refs[index] = owned;
        if (old instanceof RefCounted counted) {
            counted.release();
        }
    }

    /** Releases an owned reference. */
    static void release(@Nullable Object owned) {
        if (owned instanceof RefCounted counted) {
            counted.release();
        }
    }

    /** Empties the first registers. */
    static void clear(@Nullable Object[] refs, int count) {
        for (int i = 0; i < count; i++) {
            if (refs[i] != null) {
                put(refs, i, null);
            }
        }
    }

    /** Returns whether two references are to the same object, seen as equal by the program. */
    @SuppressWarnings("ReferenceEquality")
    static boolean areSame(@Nullable Object left, @Nullable Object right) {
        return left == right;
    }

    /** Retains a borrowed object. */
    static @Nullable Object retained(@Nullable Object object) {
        if (object instanceof RefCounted counted) {
            counted.retain();
        }
        return object;
    }

    static void check(VmType type, @Nullable Object object) {
        if (!type.accepts(object)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "reference is a %s where a %s is wanted".formatted(VmTypes.nameOf(object), type));
        }
    }
}
