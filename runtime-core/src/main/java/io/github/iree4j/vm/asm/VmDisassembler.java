package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.isa.Isa;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Prints modules as VMASM text that {@link VmAssembler} turns back into the same module.
 *
 * <p>The same means: the same code, byte for byte, and the same tables. The debug database is left out, and so are files that a
 * polyglot zip carries besides the module and its constants.
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

    /**
     * Prints all of a module.
     *
     * @param module what the module file says; it need not be verified, nor its types or imports be known
     * @return the text
     * @throws IreeException UNIMPLEMENTED for a bytecode version without a table, INVALID_ARGUMENT for code that is no sequence of
     *     instructions
     */
    public static String disassemble(ModuleDef module) {
        return disassemble(module, Options.DEFAULT);
    }

    /**
     * Prints a module.
     *
     * @param module what the module file says; it need not be verified, nor its types or imports be known
     * @param options what to print
     * @return the text
     * @throws IreeException UNIMPLEMENTED for a bytecode version without a table, INVALID_ARGUMENT for code that is no sequence of
     *     instructions, UNAVAILABLE when rodata cannot be written
     */
    public static String disassemble(ModuleDef module, Options options) {
        Isa isa = Isa.find(module.bytecodeMajor(), module.bytecodeMinor());
        if (isa == null) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "module '%s' has bytecode %d.%d, of which there is no table to disassemble it with"
                            .formatted(module.name(), module.bytecodeMajor(), module.bytecodeMinor()));
        }
        return new ModulePrinter(module, isa, options).print();
    }
}
