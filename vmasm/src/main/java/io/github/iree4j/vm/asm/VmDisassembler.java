package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.isa.Isa;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Prints modules as VMASM text, assembled back into the same module by {@link VmAssembler}.
 *
 * <p>The same means the same code, byte for byte, and the same tables. The debug database is omitted, as are files of a
 * polyglot zip other than the module and the module's constants.
 *
 * <p>Stateless; safe to use from any thread.
 */
public final class VmDisassembler {

    /**
     * The selection and form of the printed text.
     *
     * @param offsets whether to print the offset before each instruction; the assembler ignores offsets
     * @param function the name or number of the only function to print, or null for all
     * @param rodataLimit most bytes of a segment to print; larger segments are omitted, and the text then cannot be
     *     assembled
     * @param rodataDirectory directory for rodata, written as files referred to by the text; null to print rodata in
     *     the text
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
     * @param module the contents of the module file; need not be verified, nor its types or imports known
     * @return the text
     * @throws IreeException UNIMPLEMENTED for a bytecode version without a table, INVALID_ARGUMENT for code that is not
     *     a sequence of instructions
     */
    public static String disassemble(ModuleDef module) {
        return disassemble(module, Options.DEFAULT);
    }

    /**
     * Prints a module.
     *
     * @param module the contents of the module file; need not be verified, nor its types or imports known
     * @param options the selection and form of the text
     * @return the text
     * @throws IreeException UNIMPLEMENTED for a bytecode version without a table, INVALID_ARGUMENT for code that is not
     *     a sequence of instructions, UNAVAILABLE when rodata cannot be written
     */
    public static String disassemble(ModuleDef module, Options options) {
        Isa isa = Isa.find(module.bytecodeMajor(), module.bytecodeMinor());
        if (isa == null) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "module '%s' has bytecode %d.%d, which this disassembler does not support"
                            .formatted(module.name(), module.bytecodeMajor(), module.bytecodeMinor()));
        }
        return new ModulePrinter(module, isa, options).print();
    }
}
