package io.github.iree4j.spirv;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A function run by a dispatch, and the resources of the pipeline used by the function.
 *
 * @param name name in the module
 * @param workgroupSizeX invocations of a workgroup along x, as specialised
 * @param workgroupSizeY invocations of a workgroup along y, as specialised
 * @param workgroupSizeZ invocations of a workgroup along z, as specialised
 * @param sizedById whether the workgroup size is given by constants ({@code LocalSizeId}), requiring feature
 *     maintenance4
 * @param workgroupBytes bytes of workgroup memory of the variables, without padding in between; a lower bound where a
 *     length is computed
 * @param pushConstantBytes bytes of push constants possibly read, from 0 on
 * @param resources the buffers used by the function, ordered by set and binding
 * @param foreignResource a used resource other than a buffer, in words: an image, for example; null for none
 */
public record SpirvEntryPoint(
        String name,
        int workgroupSizeX,
        int workgroupSizeY,
        int workgroupSizeZ,
        boolean sizedById,
        long workgroupBytes,
        int pushConstantBytes,
        List<SpirvResource> resources,
        @Nullable String foreignResource) {

    /** Copies the list. */
    public SpirvEntryPoint {
        resources = List.copyOf(resources);
    }
}
