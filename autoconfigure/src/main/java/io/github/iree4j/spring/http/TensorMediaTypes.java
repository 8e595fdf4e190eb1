package io.github.iree4j.spring.http;

import io.github.iree4j.NpyFormat;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.server.ResponseStatusException;

/**
 * Tensors as bytes of bodies: {@code application/x-npy}, NumPy's format, and {@code application/octet-stream;type=f32;shape="1,64"}, the
 * elements alone, row-major and little-endian.
 */
public final class TensorMediaTypes {

    /** NumPy's format. */
    public static final MediaType NPY = MediaType.valueOf("application/x-npy");

    /** The elements alone; parameters {@code type} and {@code shape} say what they are. */
    public static final MediaType OCTET_STREAM = MediaType.APPLICATION_OCTET_STREAM;

    /** Both. */
    static final List<MediaType> ALL = List.of(NPY, OCTET_STREAM);

    /** How many bytes a body may have beside the elements of its tensor. */
    static final int BESIDES = 1 << 20;

    private TensorMediaTypes() {}

    /** Whether a body of that type can be read as a tensor. */
    static boolean isReadable(@Nullable MediaType type) {
        return type != null
                && (NPY.isCompatibleWith(type)
                        || (OCTET_STREAM.isCompatibleWith(type) && type.getParameter("type") != null));
    }

    /** Whether a tensor can be written as that type. */
    static boolean isWritable(@Nullable MediaType type) {
        return type == null || NPY.isCompatibleWith(type) || OCTET_STREAM.isCompatibleWith(type);
    }

    /**
     * Reads the body of a request.
     *
     * @param length how many bytes it is said to have; negative when nobody says
     * @param maximumBytes the most bytes that the elements of a tensor may take
     * @throws IreeException INVALID_ARGUMENT and others for what is no tensor
     * @throws ResponseStatusException 413 for a larger one
     */
    static Tensor readBody(InputStream in, MediaType type, long length, long maximumBytes) throws IOException {
        if (length > maximumBytes + BESIDES) {
            throw tooLarge("the body of %d bytes is".formatted(length), maximumBytes);
        }
        try {
            // Nothing larger than what is said to come, so that nobody makes us take memory for nothing.
            return read(in, type, length < 0 ? maximumBytes : Math.min(length, maximumBytes));
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                throw e;
            }
            if (length >= 0 && length <= maximumBytes) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "the body of %d bytes does not hold what it says: %s".formatted(length, e.getMessage()),
                        e);
            }
            throw tooLarge(e.getMessage() + "; it is", maximumBytes);
        }
    }

    static ResponseStatusException tooLarge(String what, long maximumBytes) {
        return new ResponseStatusException(
                HttpStatus.CONTENT_TOO_LARGE,
                "%s larger than a tensor may be, %d bytes; send less, or raise 'iree.http.max-tensor-size'"
                        .formatted(what, maximumBytes));
    }

    /**
     * Reads a tensor, no more than is said to come.
     *
     * @param maximumBytes the most bytes that its elements may take
     * @throws IreeException INVALID_ARGUMENT and others for what is no tensor; RESOURCE_EXHAUSTED for a larger one
     */
    static Tensor read(InputStream in, MediaType type, long maximumBytes) throws IOException {
        if (NPY.isCompatibleWith(type)) {
            return NpyFormat.read(in, maximumBytes);
        }
        ElementType element = ElementType.parse(String.valueOf(type.getParameter("type")));
        long[] shape = shape(type.getParameter("shape"));
        long size = element.byteSize(Shape.elementCount(shape));
        if (size > maximumBytes) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a tensor of %d bytes is larger than %d".formatted(size, maximumBytes));
        }
        Tensor tensor = Tensor.read(in, element, shape);
        if (in.read() >= 0) {
            throw invalid("the body is longer than the %d bytes of %s".formatted(size, type));
        }
        return tensor;
    }

    private static long[] shape(@Nullable String text) {
        if (text == null) {
            throw invalid("media type parameter 'shape' is missing, such as shape=\"1,64\"");
        }
        String plain = text.replace("\"", "").strip();
        if (plain.isEmpty()) {
            return new long[0];
        }
        String[] parts = plain.split("[,x]", Shape.MAXIMUM_RANK + 1);
        long[] shape = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            try {
                shape[i] = Long.parseLong(parts[i].strip());
            } catch (NumberFormatException e) {
                throw invalid("dimension %d of media type parameter 'shape' is no number".formatted(i));
            }
        }
        return shape;
    }

    /** The type with which a tensor is answered. */
    static MediaType typeOf(Tensor tensor, @Nullable MediaType wanted) {
        if (wanted == null || NPY.isCompatibleWith(wanted)) {
            return NPY;
        }
        String shape = Arrays.stream(tensor.shape()).mapToObj(Long::toString).collect(Collectors.joining(","));
        return new MediaType(
                OCTET_STREAM, Map.of("type", tensor.elementType().toString(), "shape", "\"" + shape + "\""));
    }

    static void write(Tensor tensor, MediaType type, OutputStream out) throws IOException {
        if (NPY.isCompatibleWith(type)) {
            NpyFormat.write(out, tensor);
        } else {
            tensor.writeTo(out);
        }
    }

    private static IreeException invalid(String message) {
        return new IreeException(StatusCode.INVALID_ARGUMENT, message);
    }
}
