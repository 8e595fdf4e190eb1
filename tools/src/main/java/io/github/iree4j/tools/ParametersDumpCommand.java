package io.github.iree4j.tools;

import io.github.iree4j.modules.parameters.ParameterEntry;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.ParameterInputs.Input;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j parameters dump}: shows the contents of parameter files, as {@code iree-dump-parameters} does. */
@Command(
        name = "dump",
        description =
                "Lists the parameters of files: start, end, length, type, shape and key of each. Recognises the format by the contents.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ParametersDumpCommand implements Runnable {
    private static final int CHUNK = 1 << 20;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ParameterInputs inputs;

    @Option(
            names = "--extract",
            paramLabel = "[SCOPE::]KEY=FILE",
            description = "Writes the bytes of a parameter to a file. Repeat for several.")
    private List<String> extractions = new ArrayList<>();

    ParametersDumpCommand() {}

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        List<Input> files = inputs.open();
        try {
            files.forEach(input -> ParameterTable.print(input.scope(), input.archive(), out));
            extractions.forEach(extraction -> extract(files, extraction, out));
        } finally {
            ParameterInputs.close(files);
        }
    }

    private void extract(List<Input> files, String extraction, PrintWriter out) {
        int equals = extraction.lastIndexOf('=');
        if (equals < 0) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--extract needs [SCOPE::]KEY=FILE, but is '%s'".formatted(extraction));
        }
        String name = extraction.substring(0, equals);
        int colons = name.indexOf("::");
        String scope = colons < 0 ? "" : name.substring(0, colons);
        String key = colons < 0 ? name : name.substring(colons + 2);
        ParameterEntry entry = find(files, scope, key);
        Path file = Path.of(extraction.substring(equals + 1));
        OutputFiles.requireOther(
                file, files.stream().map(each -> each.archive().path()).toList());
        out.println("Extracting parameter `%s` (%d bytes) to '%s'".formatted(name, entry.length(), file));
        try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(file))) {
            for (long at = 0; at < entry.length(); at += CHUNK) {
                to.write(bytes(entry, at, (int) Math.min(CHUNK, entry.length() - at)));
            }
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "file '%s' cannot be written: %s".formatted(file, e), e);
        }
    }

    private static ParameterEntry find(List<Input> files, String scope, String key) {
        return files.stream()
                .filter(input -> input.scope().equals(scope))
                .flatMap(input -> input.archive().find(key).stream())
                .findFirst()
                .orElseThrow(() -> IreeException.of(
                        StatusCode.NOT_FOUND,
                        "no file of scope '%s' has parameter '%s'; the table lists the existing parameters"
                                .formatted(scope, key)));
    }

    private static byte[] bytes(ParameterEntry entry, long at, int size) {
        return switch (entry) {
            case ParameterEntry.Stored stored -> stored.data().asSlice(at, size).toArray(ValueLayout.JAVA_BYTE);
            case ParameterEntry.Splat splat -> {
                byte[] bytes = new byte[size];
                splat.fill(at, MemorySegment.ofArray(bytes));
                yield bytes;
            }
        };
    }
}
