package io.github.iree4j.tools.code;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.InputFile;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j ptx}: packs kernels in PTX into an executable for programs written in VMASM. */
@Command(
        name = "ptx",
        description =
                "Packs kernels in PTX into an executable of format cuda-nvptx-fb. The exports are the entries, in "
                        + "order; an entry's parameters are buffers (.u64), then constants (.u32), and .reqntid is the size of a workgroup.",
        mixinStandardHelpOptions = true)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class PtxCommand implements Runnable {
    private static final int LARGEST = 64 << 20; // bytes of text

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "PTX, in text.")
    private List<Path> sources;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            required = true,
            description = "The executable to write.")
    private Path output;

    /** Creates the command; picocli sets the fields. */
    public PtxCommand() {}

    @Override
    public void run() {
        OutputFiles.requireOther(output, sources);
        try {
            List<String> texts = new ArrayList<>();
            for (Path source : sources) {
                texts.add(InputFile.text("text", source, LARGEST));
                check(source, texts.getLast());
            }
            Files.write(output, PtxExecutable.of(texts));
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "'%s' cannot be made: %s".formatted(output, e), e);
        }
    }

    /** Validates a text; names the file in failures. */
    private static void check(Path source, String text) {
        try {
            PtxExecutable.of(List.of(text));
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "'%s' cannot be packed: %s".formatted(source, e.getMessage()), e);
        }
    }
}
