package io.github.iree4j.modules.parameters;

import io.github.iree4j.api.NotForApplications;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/** The supported formats of parameter files, recognized by contents rather than by name. */
@NotForApplications
public enum ParameterFormat {
    /** IREE's parameter archive. */
    IRPA,

    /** Files of ggml and llama.cpp, versions 2 and 3, little-endian. */
    GGUF,

    /** Files of Hugging Face's safetensors. */
    SAFETENSORS;

    /** First bytes of files given by mistake, and the advice for each. */
    private static final Map<String, String> OFTEN_MISTAKEN = Map.of(
            "version https://git-lfs", "it is a pointer of Git LFS; fetch the file itself with 'git lfs pull'",
            "PK\003\004", "it is a ZIP archive, perhaps of PyTorch or NumPy; save its tensors as .safetensors",
            "\u0093NUMPY", "it is a NumPy array; save it as .safetensors",
            "\u0089HDF", "it is an HDF5 file; save its tensors as .safetensors",
            "ggjt", "it is a GGML file from before GGUF; convert it to GGUF",
            "lmgg", "it is a GGML file from before GGUF; convert it to GGUF",
            "<!DOCTYPE", "it is an HTML page; was the download redirected to a login?",
            "<html", "it is an HTML page; was the download redirected to a login?");

    private static final int LONGEST_START = 24;

    /**
     * Recognises a file.
     *
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when the file has no known format
     */
    static ParameterFormat of(ArchiveSource source) {
        MemorySegment bytes = source.bytes();
        if (bytes.byteSize() >= Integer.BYTES) {
            int magic = bytes.get(ArchiveSource.U32, 0);
            if (magic == IrpaFormat.MAGIC) {
                return IRPA;
            }
            if (magic == GgufReader.MAGIC) {
                return GGUF;
            }
        }
        if (SafetensorsReader.looksLikeOne(bytes)) {
            return SAFETENSORS;
        }
        byte[] start =
                bytes.asSlice(0, Math.min(LONGEST_START, bytes.byteSize())).toArray(ValueLayout.JAVA_BYTE);
        String text = new String(start, StandardCharsets.ISO_8859_1);
        String hint = OFTEN_MISTAKEN.entrySet().stream()
                .filter(mistake -> text.regionMatches(
                        true, 0, mistake.getKey(), 0, mistake.getKey().length()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("give a file in one of these formats, or convert it with 'iree4j parameters convert'");
        StringBuilder hex = new StringBuilder();
        for (int i = 0; i < Math.min(8, start.length); i++) {
            hex.append(String.format(Locale.ROOT, i == 0 ? "%02x" : " %02x", start[i]));
        }
        throw source.invalid(
                0,
                "it is not an .irpa, .gguf or .safetensors file: %d bytes, magic %s; %s"
                        .formatted(bytes.byteSize(), hex.isEmpty() ? "missing" : hex, hint));
    }

    /** Reads the index of a file of this format: the parameters by key, in file order. */
    Map<String, ParameterEntry> entries(ArchiveSource source) {
        return switch (this) {
            case IRPA -> IrpaReader.read(source);
            case GGUF -> GgufReader.read(source);
            case SAFETENSORS -> SafetensorsReader.read(source);
        };
    }
}
