package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Assembles VMASM text into a {@code .vmfb} module.
 *
 * <p>The text is the language printed by IREE's disassembler and read by IREE's assembler, with additions listed in
 * {@code docs/vmasm.md}. The result is a flat module file, of bytecode 17.0 unless the text has {@code vm.bytecode};
 * the same text and files yield the same bytes. The module is not verified beyond the needs of assembling; loading
 * verifies the module.
 *
 * <p>Stateless; safe to use from any thread.
 */
public final class VmAssembler {

    private VmAssembler() {}

    /**
     * Assembles a module whose rodata is entirely in the text.
     *
     * @param source the text
     * @return the bytes of the module file
     * @throws IreeException INVALID_ARGUMENT with line and column, the expected text and the text found
     */
    public static byte[] assemble(String source) {
        return assemble(source, null);
    }

    /**
     * Assembles a module.
     *
     * @param source the text
     * @param baseDirectory the directory for files of {@code vm.rodata[0] = file "name"}; null to refuse such
     *     references
     * @return the bytes of the module file
     * @throws IreeException INVALID_ARGUMENT with line and column, the expected text and the text found; NOT_FOUND for
     *     an unreadable rodata file
     */
    public static byte[] assemble(String source, @Nullable Path baseDirectory) {
        ModuleAssembler assembler = new ModuleAssembler(baseDirectory);
        int number = 1;
        for (int start = 0; start <= source.length(); number++) {
            int end = source.indexOf('\n', start);
            if (end < 0) {
                end = source.length();
            }
            assembler.line(new LineCursor(number, source.substring(start, end)));
            start = end + 1;
        }
        return ModuleWriter.write(assembler.finish(number - 1));
    }
}
