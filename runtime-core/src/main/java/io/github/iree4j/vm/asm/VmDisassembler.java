package io.github.iree4j.vm.asm;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Prints modules as VMASM text that {@link VmAssembler} turns back into the same module.
 *
 * <p>Stateless; safe to use from any thread.
 */
public final class VmDisassembler {

    /**
     * What to print.
     *
     * @param offsets whether to put the offset of each instruction in front of it; the assembler ignores them
     * @param function the name or number of the one function to print, or null for all
     * @param rodataLimit most bytes of a segment that are printed; larger ones are left out, and the text cannot be assembled
     * @param rodataDirectory where to write rodata, as files that the text refers to; null to have it in the text
     */
    public record Options(
            boolean offsets,
            @Nullable String function,
            long rodataLimit,
            @Nullable Path rodataDirectory) {
        /** Everything, without offsets. */
        public static final Options DEFAULT = new Options(false, null, Long.MAX_VALUE, null);

        boolean selects(String name, int ordinal) {
            return function == null || function.equals(name) || function.equals(Integer.toString(ordinal));
        }
    }

    private VmDisassembler() {}
}
