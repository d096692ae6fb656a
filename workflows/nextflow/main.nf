// One analysis of many recordings with spikeweave. docs/workflows.md says how to use it.
nextflow.enable.dsl = 2

include { PART; MERGE; TABLE } from './modules/spikeweave'

workflow {
    recordings = Channel.fromPath(params.sheet, checkIfExists: true)
        .splitCsv(header: true, sep: params.sheet.toString().endsWith('.csv') ? ',' : '\t')
        .map { row -> tuple(row.recording, file("${params.data}/${row.file}", checkIfExists: true)) }

    PART(recordings.combine(Channel.of(1..params.parts)))
    MERGE(recordings.join(PART.out.groupTuple(size: params.parts)))
    TABLE(MERGE.out.collect())
}
