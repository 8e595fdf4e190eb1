package io.github.iree4j.vm.bytecode;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What is known of the content of a register while {@link ShapeFlow} follows a function; null where nothing is. */
sealed interface ShapeValue {
    /** Whether it is in two words. */
    default boolean isWide() {
        return false;
    }

    /** What is known when the content may be either. */
    static @Nullable ShapeValue either(@Nullable ShapeValue a, @Nullable ShapeValue b) {
        if (a == null || a.equals(b)) {
            return a;
        }
        return a instanceof View one && b instanceof View other ? one.or(other) : null;
    }

    /** An integer. */
    record Constant(long value, @Override boolean isWide) implements ShapeValue {}

    /** An argument of the function, by its place in the calling convention. */
    record Argument(int index, @Override boolean isWide) implements ShapeValue {}

    /** A dimension of the view that is an argument. */
    record Dimension(int argument, int index) implements ShapeValue {
        @Override
        public boolean isWide() {
            return true;
        }
    }

    /** A view with these elements, and dimensions of which null is not known. */
    final class View implements ShapeValue {
        /** Higher ranks are not followed. */
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

        /** What both say; null if they have nothing in common. */
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

        /** What is known of a view of which both are true. If they contradict each other, there is no such view. */
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
