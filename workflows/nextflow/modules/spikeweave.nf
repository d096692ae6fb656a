// Steps of an analysis of many recordings: the surrogates of each in parts, then one result, then a table of all.

process PART {
    tag "${recording} ${part}/${params.parts}"
    cpus params.n_jobs

    input:
    tuple val(recording), path(spikes), val(part)

    output:
    tuple val(recording), path("part-${part}")

    script:
    """
    spikeweave ${params.command} ${spikes} ${params.options} --part ${part}/${params.parts} --threads ${task.cpus} --progress plain -o part-${part}
    """
}

process MERGE {
    tag "${recording}"
    publishDir "${params.results}/${params.command}", mode: 'copy'

    input:
    tuple val(recording), path(spikes), path(parts)

    output:
    path "${recording}"

    script:
    """
    spikeweave merge ${parts} --input ${spikes} --progress plain -o ${recording}
    """
}

process TABLE {
    publishDir params.results, mode: 'copy'

    input:
    path results

    output:
    path "${params.table}.tsv"

    script:
    """
    spikeweave table ${results} --of ${params.table} -o ${params.table}.tsv
    """
}
