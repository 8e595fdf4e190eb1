package io.github.iree4j.tools;

import io.github.iree4j.Tensor;
import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code iree4j parameters create}: writes zeros and patterns, with the flags of {@code iree-create-parameters}. */
@Command(
        name = "create",
        description = "Writes an .irpa archive of zeros and repeated values, for tests without real parameters.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ParametersCreateCommand implements Runnable {
    private static final Pattern DECLARATION = Pattern.compile("((?:[0-9]+x)*)([a-zA-Z][^=]*)(?:=(.*))?");
    private static final int CHUNK = 1 << 20;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--data",
            paramLabel = "KEY=SHAPExTYPE[=VALUE]",
            description = "A parameter with bytes in the file: zeros, or a repeated value.")
    private List<String> stored = new ArrayList<>();

    @Option(
            names = "--splat",
            paramLabel = "KEY=SHAPExTYPE=VALUE",
            description = "A parameter with a repeated value, taking no room in the file.")
    private List<String> splats = new ArrayList<>();

    @Option(
            names = "--alignment",
            paramLabel = "BYTES",
            defaultValue = "64",
            description = "Alignment of data: 64, as required by programs on the CPU.")
    private int alignment;

    @Option(names = "--quiet", description = "Does not print the table of the archive written.")
    private boolean quiet;

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "The archive to write.")
    private Path output;

    ParametersCreateCommand() {}

    /**
     * A declared parameter.
     *
     * @param length in bytes
     * @param pattern null for zeros
     */
    private record Declared(String key, long length, byte @Nullable [] pattern) {}

    @Override
    public void run() {
        if (alignment != 64) {
            throw wrong("--alignment is %d; archives are written with 64".formatted(alignment));
        }
        if (stored.isEmpty() && splats.isEmpty()) {
            throw wrong("declare a parameter with --data or --splat");
        }
        IrpaWriter writer = new IrpaWriter();
        try (Arena arena = Arena.ofConfined()) {
            for (String each : splats) {
                Declared declared = declared("--splat", each);
                writer.splat(
                        declared.key(),
                        declared.length(),
                        declared.pattern() == null ? new byte[1] : declared.pattern());
            }
            for (String each : stored) {
                Declared declared = declared("--data", each);
                writer.stored(declared.key(), contents(declared, arena));
            }
            writer.write(output);
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "archive '%s' cannot be written: %s".formatted(output, e), e);
        }
        if (!quiet) {
            try (ParameterArchive written = ParameterArchive.open(output)) {
                ParameterTable.print("", written, spec.commandLine().getOut());
            }
        }
    }

    private Declared declared(String flag, String text) {
        int equals = text.indexOf('=');
        Matcher declaration = DECLARATION.matcher(equals < 1 ? "" : text.substring(equals + 1));
        if (!declaration.matches()) {
            throw wrong("%s needs KEY=SHAPExTYPE=VALUE, such as weight=4x2xf32=0.5, but is '%s'".formatted(flag, text));
        }
        String type = declaration.group(2);
        try (Tensor eight = Tensor.parse("8x" + type)) {
            long length = eight.byteSize(); // of an element, in bits
            for (String dimension : declaration.group(1).split("x", 0)) {
                if (!dimension.isEmpty()) {
                    length = Math.multiplyExact(length, Long.parseLong(dimension));
                }
            }
            if (length % Byte.SIZE != 0) {
                throw wrong("%s '%s' does not fill whole bytes".formatted(flag, text));
            }
            return new Declared(text.substring(0, equals), length / Byte.SIZE, pattern(type, declaration.group(3)));
        } catch (ArithmeticException | NumberFormatException e) {
            throw wrong("%s '%s' has more bytes than a file can have".formatted(flag, text));
        }
    }

    private byte @Nullable [] pattern(String type, @Nullable String value) {
        if (value == null || value.isBlank()) {
            return null;
        }
        try (Tensor scalar = Tensor.parse(type + "=" + value)) {
            return scalar.rawBytes();
        }
    }

    /** Returns the bytes, in an unnamed file: an archive may be larger than memory. */
    private MemorySegment contents(Declared declared, Arena arena) throws IOException {
        Path directory = output.toAbsolutePath().getParent();
        Path file = Files.createTempFile(directory, "." + output.getFileName(), ".data");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment bytes = channel.map(FileChannel.MapMode.READ_WRITE, 0, declared.length(), arena);
            byte[] pattern = declared.pattern();
            if (pattern != null) {
                MemorySegment chunk = MemorySegment.ofArray(new byte[CHUNK]);
                for (long at = 0; at < CHUNK; at += pattern.length) {
                    MemorySegment.copy(MemorySegment.ofArray(pattern), 0, chunk, at, pattern.length);
                }
                for (long at = 0; at < declared.length(); at += CHUNK) {
                    MemorySegment.copy(chunk, 0, bytes, at, Math.min(CHUNK, declared.length() - at));
                }
            }
            return bytes;
        } finally {
            Files.delete(file);
        }
    }

    private CommandLine.ParameterException wrong(String message) {
        return new CommandLine.ParameterException(spec.commandLine(), message);
    }
}
