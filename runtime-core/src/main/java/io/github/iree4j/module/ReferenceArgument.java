package io.github.iree4j.module;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * A reference argument.
 *
 * @param adapter converts the reference for the method
 * @param where names the parameter in messages
 * @param nullable whether the method takes null
 */
record ReferenceArgument(ReferenceAdapter<Object> adapter, String where, boolean nullable) {
    @Nullable
    Object take(Scope scope) {
        Object reference = scope.call().ref(Object.class);
        if (reference == null) {
            if (nullable) {
                return null;
            }
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s is null; annotate it @Nullable to accept null".formatted(where));
        }
        if (reference instanceof RefCounted) {
            scope.borrow(reference);
        }
        Object value;
        try {
            value = adapter.take(reference);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "%s is %s".formatted(where, e.getMessage()), e);
        }
        scope.open(adapter, value);
        return value;
    }
}
