package io.github.iree4j.tools.code;

import io.github.iree4j.flatbuffer.FlatBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmDisassembler;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j dump}: shows the contents of a module file, as {@code iree-dump-module} does. */
@Command(
        name = "dump",
        description = "Shows the contents of a .vmfb module: metadata, tables, sizes, and code as VMASM text.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class DumpCommand implements Runnable {

    /** The contents to show; {@code iree-dump-module} has {@code all} and {@code disassembly} too. */
    private enum Output {
        /** Everything. */
        all,
        /** Tables and sizes. */
        metadata,
        /** Text for {@code iree4j asm} to turn back into the module. */
        disassembly,
        /** The tables as JSON. */
        flatbuffer_json,
        /** The tables' bytes in the file, without the parts before and after. */
        flatbuffer_binary;

        static Output of(String name) {
            return valueOf(name.replace('-', '_'));
        }
    }

    /** Reads a name of {@code iree-dump-module}. */
    static final class OutputConverter implements CommandLine.ITypeConverter<Output> {
        OutputConverter() {}

        @Override
        public Output convert(String name) {
            try {
                return Output.of(name);
            } catch (IllegalArgumentException e) {
                throw new CommandLine.TypeConversionException(
                        "'%s' is none of all, metadata, disassembly, flatbuffer-json, flatbuffer-binary"
                                .formatted(name));
            }
        }
    }

    /** Maximum number of bytes of a constant shown next to metadata; {@code --output=disassembly} shows all. */
    private static final int INLINE_RODATA = 64;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "The module.")
    private Path file;

    @Option(
            names = "--output",
            paramLabel = "WHAT",
            description =
                    "metadata (default), disassembly for text assembled by 'iree4j asm' into the same module, all, "
                            + "flatbuffer-json for the tables as JSON, or flatbuffer-binary for the tables' bytes.",
            converter = OutputConverter.class)
    private Output output = Output.metadata;

    @Option(names = "--pretty", description = "Indents JSON.")
    private boolean pretty;

    @Option(names = "--disassemble", description = "Shows the code after the metadata, like --output=all.")
    private boolean disassemble;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            description = "Shows the code of this function only, by name or number.")
    private @Nullable String function;

    @Option(names = "--bytecode_offsets", description = "Prefixes every instruction with the offset.")
    private boolean offsets;

    @Option(
            names = "--rodata",
            paramLabel = "DIR",
            description = "Writes constants to files in this directory, referenced by the disassembly.")
    private @Nullable Path rodata;

    /** Creates the command; picocli sets the fields. */
    public DumpCommand() {}

    @Override
    public void run() {
        if (function != null && function.isEmpty()) {
            function = null; // as in a file of flags with default values
        }
        PrintWriter out = spec.commandLine().getOut();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            if (output == Output.flatbuffer_json) {
                new ModuleJson(out, pretty).print(new FlatBuffer(ModuleDef.flatbuffer(bytes)).root("module", "IREE"));
                return;
            }
            if (output == Output.flatbuffer_binary) {
                System.out.write(ModuleDef.flatbuffer(bytes).toArray(ValueLayout.JAVA_BYTE));
                System.out.flush();
                return;
            }
            dump(ModuleDef.read(bytes, ModuleLimits.DEFAULTS), bytes.byteSize(), out);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "module file '%s': %s".formatted(file, e.getMessage()), e);
        } catch (NoSuchFileException e) {
            throw IreeException.of(StatusCode.NOT_FOUND, "there is no module file '%s'".formatted(file), e);
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "module file '%s': %s".formatted(file, e), e);
        }
    }

    private void dump(ModuleDef module, long size, PrintWriter out) throws IOException {
        boolean metadata = output != Output.disassembly && function == null;
        boolean code = output != Output.metadata || disassemble || function != null;
        if (metadata) {
            new MetadataPrinter(module, out).print(size);
        }
        if (code) {
            if (rodata != null) {
                Files.createDirectories(rodata);
            }
            if (metadata) {
                MetadataPrinter.section(out, "Disassembly");
            }
            long limit = output == Output.disassembly && function == null ? Long.MAX_VALUE : INLINE_RODATA;
            out.print(VmDisassembler.disassemble(module, new VmDisassembler.Options(offsets, function, limit, rodata)));
        }
    }
}
