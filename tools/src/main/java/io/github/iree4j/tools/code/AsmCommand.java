package io.github.iree4j.tools.code;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.InputFile;
import io.github.iree4j.tools.file.OutputFiles;
import io.github.iree4j.vm.asm.VmAssembler;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.bytecode.ModuleVerifier;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j asm}: assembles VMASM text into a module file and verifies the module. */
@Command(
        name = "asm",
        description = "Assembles VMASM text into a .vmfb module.",
        mixinStandardHelpOptions = true,
        footer = {"", "docs/vmasm.md describes the text."})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class AsmCommand implements Runnable {
    private static final int MAX_FINDINGS = 100;
    private static final int LARGEST = 256 << 20; // bytes of text

    @Parameters(paramLabel = "FILE", description = "The text, usually a .vmasm file.")
    private Path source;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "The module to write. Default: the text's name with .vmfb.")
    private @Nullable Path output;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            description = "The directory of the rodata files referenced by the text. Default: the text's directory.")
    private @Nullable Path directory;

    @Option(names = "--no-verify", description = "Writes even a module no runtime would load.")
    private boolean unverified;

    /** Creates the command; picocli sets the fields. */
    public AsmCommand() {}

    @Override
    public void run() {
        Path target = output == null ? defaultOutput() : output;
        String text = InputFile.text("text", source, LARGEST);
        try {
            OutputFiles.requireOther(target, List.of(source));
            byte[] module = VmAssembler.assemble(
                    text, directory == null ? source.toAbsolutePath().getParent() : directory);
            if (!unverified) {
                verify(module);
            }
            Files.write(target, module);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "'%s': %s".formatted(source, e.getMessage()), e);
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "cannot write the module of '%s': %s".formatted(source, e), e);
        }
    }

    /** Applies the rules of a runtime with every type named by the module; reports all findings at once. */
    private static void verify(byte[] module) {
        List<ModuleVerifier.Finding> findings =
                ModuleVerifier.verify(MemorySegment.ofArray(module), null, ModuleLimits.DEFAULTS);
        if (!findings.isEmpty()) {
            throw IreeException.of(
                    findings.getFirst().code(),
                    findings.stream()
                            .limit(MAX_FINDINGS)
                            .map(ModuleVerifier.Finding::toString)
                            .collect(Collectors.joining("\n  ", "no runtime loads the module:\n  ", "")));
        }
    }

    private Path defaultOutput() {
        String name = source.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return source.resolveSibling((dot < 0 ? name : name.substring(0, dot)) + ".vmfb");
    }
}
