package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Detail of a failure to read a module, where the file is an input of IREE's compiler or of an importer, or a failed
 * download, recognised by the first bytes.
 *
 * @param kind the kind of file, with an article
 * @param remedy instruction to the user, as the rest of a sentence
 */
@NotForApplications
public record UncompiledFile(String kind, String remedy) implements FailureDetail {
    private static final int SHORTEST = 8;
    private static final int TEXT = 64; // bytes examined; the tables of a module have zeros earlier
    private static final String MODULE = "IREE";
    private static final int MODULE_AT = 8;
    private static final String GIT_LFS = "version https://git-lfs";
    private static final String MLIR_BYTECODE = "ML\u00efR";
    private static final String TFLITE = "TFL3";
    private static final int TFLITE_AT = 4;
    /** The key of {@code ir_version}, which exporters write first into ONNX's {@code ModelProto}. */
    private static final int ONNX_VERSION = 0x08;
    /** Keys of the following fields: producer, its version, domain, graph, and operator sets. */
    private static final String ONNX_NEXT = "\u0012\u001a\":B";

    /** Throws INVALID_ARGUMENT with this detail for a recognised file. */
    static void refuse(MemorySegment file) {
        UncompiledFile found = find(file);
        if (found != null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "it is not a compiled module but %s: %s".formatted(found.kind, found.remedy),
                    null,
                    found);
        }
    }

    private static @Nullable UncompiledFile find(MemorySegment file) {
        if (file.byteSize() < SHORTEST || isAt(file, MODULE_AT, MODULE)) {
            return null;
        }
        if (isText(file)) {
            return text(file);
        }
        if (isAt(file, 0, MLIR_BYTECODE)) {
            return new UncompiledFile("MLIR bytecode", "compile the program with 'iree-compile'");
        }
        if (isAt(file, TFLITE_AT, TFLITE)) {
            return imported("a TensorFlow Lite model", "tosa-converter-for-tflite");
        }
        boolean isOnnx = byteAt(file, 0) == ONNX_VERSION && ONNX_NEXT.indexOf(byteAt(file, 2)) >= 0;
        return isOnnx ? imported("an ONNX model", "iree-import-onnx") : null;
    }

    private static UncompiledFile text(MemorySegment file) {
        if (isAt(file, 0, GIT_LFS)) {
            return new UncompiledFile("a pointer of Git LFS", "fetch the file itself with 'git lfs pull'");
        }
        if (byteAt(file, 0) == '<') {
            return new UncompiledFile(
                    "an HTML or XML page",
                    "download the file again, since the server may have sent a login page or an error");
        }
        return new UncompiledFile("a text", "if the text is MLIR, compile the program with 'iree-compile'");
    }

    private static UncompiledFile imported(String kind, String importer) {
        return new UncompiledFile(
                kind, "convert the model with '%s', then compile the result with 'iree-compile'".formatted(importer));
    }

    private static boolean isText(MemorySegment file) {
        for (int i = 0; i < Math.min(file.byteSize(), TEXT); i++) {
            int each = byteAt(file, i);
            if (each != '\n' && each != '\r' && each != '\t' && (each < ' ' || each == 0x7f)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAt(MemorySegment file, int offset, String latin) {
        byte[] wanted = latin.getBytes(StandardCharsets.ISO_8859_1);
        return file.byteSize() >= offset + wanted.length
                && file.asSlice(offset, wanted.length).mismatch(MemorySegment.ofArray(wanted)) < 0;
    }

    private static int byteAt(MemorySegment file, int offset) {
        return file.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
    }
}
