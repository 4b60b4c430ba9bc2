// Only what the page draws is taken from the library.
import * as echarts from 'echarts/core';
import {BarChart, BoxplotChart, CustomChart, HeatmapChart, LineChart, ScatterChart} from 'echarts/charts';
import {AriaComponent, BrushComponent, DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TitleComponent, TooltipComponent, VisualMapComponent} from 'echarts/components';
import {CanvasRenderer, SVGRenderer} from 'echarts/renderers';

echarts.use([BarChart, BoxplotChart, CustomChart, HeatmapChart, LineChart, ScatterChart,
  AriaComponent, BrushComponent, DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TitleComponent, TooltipComponent, VisualMapComponent,
  CanvasRenderer, SVGRenderer]);

export {echarts};
