package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Assembles VMASM text into a {@code .vmfb} module.
 *
 * <p>The text is what IREE's disassembler prints and its assembler reads, with additions listed in {@code docs/vmasm.md}. The result is a
 * flat module file, of bytecode 17.0 unless the text has {@code vm.bytecode}; the same text and files yield the same bytes. It is not
 * verified beyond what assembling requires: loading it does that.
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
     * @throws IreeException INVALID_ARGUMENT with line and column, what was expected and what was found
     */
    public static byte[] assemble(String source) {
        return assemble(source, null);
    }

    /**
     * Assembles a module.
     *
     * @param source the text
     * @param baseDirectory where {@code vm.rodata[0] = file "name"} looks for its files; null to refuse such references
     * @return the bytes of the module file
     * @throws IreeException INVALID_ARGUMENT with line and column, what was expected and what was found; NOT_FOUND for a rodata file that
     *     cannot be read
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
