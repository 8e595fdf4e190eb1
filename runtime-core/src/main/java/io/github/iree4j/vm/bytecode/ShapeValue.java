package io.github.iree4j.vm.bytecode;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The known content of a register while {@link ShapeFlow} follows a function; null when unknown. */
sealed interface ShapeValue {
    /** Returns whether the value occupies two words. */
    default boolean isWide() {
        return false;
    }

    /** Returns the knowledge common to two possible contents. */
    static @Nullable ShapeValue either(@Nullable ShapeValue a, @Nullable ShapeValue b) {
        if (a == null || a.equals(b)) {
            return a;
        }
        return a instanceof View one && b instanceof View other ? one.or(other) : null;
    }

    /** An integer. */
    record Constant(long value, @Override boolean isWide) implements ShapeValue {}

    /** An argument of the function, by position in the calling convention. */
    record Argument(int index, @Override boolean isWide) implements ShapeValue {}

    /** A dimension of a view passed as an argument. */
    record Dimension(int argument, int index) implements ShapeValue {
        @Override
        public boolean isWide() {
            return true;
        }
    }

    /** A view with these elements and dimensions; an unknown dimension is null. */
    final class View implements ShapeValue {
        /** The highest rank followed. */
        static final int MAX_RANK = 128;

        final int elementType;
        private final @Nullable ShapeValue[] dimensions;

        View(int elementType, @Nullable ShapeValue[] dimensions) {
            this.elementType = elementType;
            this.dimensions = dimensions;
        }

        int rank() {
            return dimensions.length;
        }

        @Nullable
        ShapeValue dimension(int index) {
            return dimensions[index];
        }

        private boolean isLike(View other) {
            return elementType == other.elementType && rank() == other.rank();
        }

        /** Returns the knowledge common to both views; null if there is none. */
        @Nullable
        View or(View other) {
            if (!isLike(other)) {
                return null;
            }
            @Nullable ShapeValue[] common = dimensions.clone();
            for (int i = 0; i < common.length; i++) {
                common[i] = either(common[i], other.dimensions[i]);
            }
            return new View(elementType, common);
        }

        /** Returns the knowledge about a view satisfying both. If the two contradict each other, no such view exists. */
        View and(View other) {
            if (!isLike(other)) {
                return this;
            }
            @Nullable ShapeValue[] sum = dimensions.clone();
            for (int i = 0; i < sum.length; i++) {
                sum[i] = sum[i] instanceof Constant
                        ? sum[i]
                        : other.dimensions[i] instanceof Constant ? other.dimensions[i] : sum[i];
            }
            return new View(elementType, sum);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof View view && isLike(view) && Arrays.equals(dimensions, view.dimensions);
        }

        @Override
        public int hashCode() {
            return 31 * elementType + Arrays.hashCode(dimensions);
        }
    }
}
